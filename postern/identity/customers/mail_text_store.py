"""SQL of the texts that projects have written for their mails to customers."""

from uuid import UUID

from postern.identity.customers.mail_text_model import EditedMail, MailTextRow
from postern.kernel.database.statements import Queries, Transaction, statement


# The newest version of a mail in a language, which counts.
@statement("""
    select * from customer_mail_versions
    where project_id = %(project_id)s and mail = %(mail)s and language = %(language)s
    order by version desc limit 1
""")
async def current_text(db: Queries, *, project_id: UUID, mail: str, language: str) -> MailTextRow | None: ...


# The mails and languages whose newest version has content.
@statement("""
    select current.mail, current.language from (
        select distinct on (mail, language) mail, language, content is not null as is_edited
        from customer_mail_versions where project_id = %(project_id)s order by mail, language, version desc
    ) as current where current.is_edited
""")
async def edited_mails(db: Queries, *, project_id: UUID) -> list[EditedMail]: ...


# The latest versions of a mail in a language, newest first.
@statement("""
    select * from customer_mail_versions
    where project_id = %(project_id)s and mail = %(mail)s and language = %(language)s
    order by version desc limit %(limit)s
""")
async def versions(db: Queries, *, project_id: UUID, mail: str, language: str, limit: int) -> list[MailTextRow]: ...


@statement("""
    select * from customer_mail_versions
    where project_id = %(project_id)s and mail = %(mail)s and language = %(language)s and version = %(version)s
""")
async def version(db: Queries, *, project_id: UUID, mail: str, language: str, version: int) -> MailTextRow | None: ...


@statement("insert into customer_mail_versions {row}")
async def insert_version(tx: Transaction, row: MailTextRow) -> None: ...


# Delete the versions up to and including `version`.
@statement("""
    delete from customer_mail_versions
    where project_id = %(project_id)s and mail = %(mail)s and language = %(language)s and version <= %(version)s
""")
async def delete_old_versions(tx: Transaction, *, project_id: UUID, mail: str, language: str, version: int) -> None: ...
