-- Attempts of developers and customers are counted in one table; rows of developers stand under the nil project.
alter table customer_failures rename to sign_in_attempts;
alter table sign_in_attempts rename constraint customer_failures_pkey to sign_in_attempts_pkey;
alter table sign_in_attempts rename constraint customer_failures_project_id_identifier_ip_address_key
    to sign_in_attempts_project_id_identifier_ip_address_key;
alter index customer_failures_due rename to sign_in_attempts_due;
alter index customer_failures_locked rename to sign_in_attempts_locked;
-- Nothing writes or reads it any more.
drop table sign_in_failures;
