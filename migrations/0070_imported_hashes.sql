-- Of the imported password hashes of a project, which kinds and costs there are: a refused password takes as long as
-- the slowest of them.
create index customers_imported_hashes on customers
    (project_id, (substring(password_hash from '^\$[^$]+\$(?:v=\d+\$)?[^$]+')))
    where password_hash not like '$argon2id$v=19$m=19456,t=2,p=1$%';
