-- The address or name of an account at a provider, as the provider reported it when the account was linked, or when it
-- last reported another address. It is shown to the customer; no rule depends on it. Null for accounts that were linked
-- before, and if the provider reports neither.
alter table customer_identities add column account_name text;
