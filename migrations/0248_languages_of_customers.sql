-- The language that a customer reads, as a language tag (BCP 47) such as `de` or `pt-BR`; null if it is not known.
alter table customers add column language text;
