-- Challenges belong to the authentication engine, for customers and developers alike: those about developers stand
-- under the project of zeros. There is no foreign key: a challenge proves nothing without the one it is about, and
-- expires within half an hour.
alter table customer_challenges rename to challenges;
alter table challenges drop constraint customer_challenges_project_id_customer_id_fkey;
alter table challenges rename column customer_id to subject_id;
alter table challenges rename constraint customer_challenges_pkey to challenges_pkey;
alter index customer_challenges_customer rename to challenges_subject;
alter index customer_challenges_due rename to challenges_due;
alter index customer_challenges_identifier rename to challenges_identifier;
