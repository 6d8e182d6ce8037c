"""What pages say about problems: in plain words, in the language of the page.

The detail of a problem is for developers and in English. Pages for customers show the text for its code instead.
"""

from collections.abc import Sequence

from postern.kernel.http.problems import Problem
from postern.web.languages import Text, counted_text, text

PROBLEM_TEXTS: dict[str, Text] = {
    "sign_in_failed": text("Wrong email or password."),
    "code_invalid": text("This code or link is wrong, has expired or was already used. Request a new one."),
    "wrong_first_code": text(
        "This code is wrong. Enter the code that the authenticator app shows now for this key. It changes every 30 "
        "seconds."
    ),
    "method_off": text("You cannot sign in this way here. Choose another one."),
    "sign_in_method_not_allowed": text("Your organization does not allow this way to sign in. Choose another one."),
    "sign_up_closed": text("New accounts are by invitation only. Ask for an invitation."),
    "terms_not_accepted": text("Accept the current terms to go on."),
    "email_taken": text("There is an account with this address already. Sign in instead."),
    "last_sign_in_method": text("This is your only way to sign in."),
    "sso_required": text("Sign in with your organization’s sign-in. If that does not work, ask its administrator."),
    "no_sign_on_here": text("No organization uses single sign-on for this e-mail domain. Sign in another way."),
    "sign_in_blocked": text("This account is not allowed to sign in."),
    "hook_failed": text("Signing in does not work at the moment. Try again in a minute."),
    "hook_refused": text("This app does not allow this account. If you think that is wrong, contact its support."),
    "customer_banned": text("This account is blocked."),
    "password_breached": text("This password has appeared in a data breach. Choose another one."),
    "password_common": text("This password is among the most common ones. Choose another one."),
    "mfa_already_on": text("Your account has a second factor already. Sign in again."),
    "not_fresh": text("For this, you must have signed in within the last hour. Sign in again."),
    "too_many_passkeys": text("There are 20 passkeys already. Remove one first."),
    "plan_limit_reached": text("New accounts cannot be created at the moment. Try again later."),
    "flow_invalid": text("This sign-in has expired or is finished already. Go back to the app and start again."),
    "invitation_missing": text(
        "This link is no longer valid. Use the latest invitation that you received, or ask for a new one."
    ),
    "invitation_closed": text("This invitation was accepted, withdrawn or has expired. Ask for a new one."),
    "setup_link_missing": text(
        "This link is not valid in this browser. Open the link that you received, in the browser in which you began."
    ),
    "setup_link_closed": text(
        "This link is finished, was withdrawn or has expired. Ask the person who sent it for a new one."
    ),
    "setup_link_in_use": text(
        "This link was opened in another browser. Go on there. If that was not you, tell the person who sent the link."
    ),
    "setup_link_owner_required": text(
        "You are no longer signed in as an owner. Open the page of your organization and begin again. What you have "
        "set up stays."
    ),
    "too_many_setup_links": text("There are 10 open setup links already. Ask the app to withdraw some first."),
    "setup_step_not_allowed": text("This link does not allow that. Ask the person who sent it."),
    "setup_connection_active": text(
        "Single sign-on is active, so this link cannot change it. Ask the person who sent the link."
    ),
    "setup_test_missing": text("Test the sign-in with these settings first."),
    "sso_connection_missing": text("The connection was deleted. Choose your identity provider again."),
    "sso_connection_incomplete": text("Something is missing. See below what to complete."),
    "sso_domain_served": text("Another connection is active for this domain. Ask the person who sent the link."),
    "metadata_unreachable": text("The metadata could not be fetched. Check the URL, or paste the metadata itself."),
    "metadata_refused": text("This is not the metadata of a SAML identity provider, or a part of it is wrong."),
    "metadata_too_large": text("The metadata is too large."),
    "domain_listed": text("This domain is in the list already."),
    "domain_taken": text("Another organization has verified this domain."),
    "record_changed": text("Something has changed meanwhile. Check it and try again."),
    "organization_domain_missing": text("This domain was removed."),
    "directory_connection_missing": text("The connection was deleted, or was created twice. Try again."),
    "organization_suspended": text("This organization does not take new members at the moment."),
    "foreign_form": text("This form was sent from another website. Open the page again and send it from there."),
    "not_found": text("This page does not exist. Check the link."),
    "page_expired": text("This page belongs to an earlier sign-in. Check it and send it again."),
    "sign_in_not_begun": text("This browser did not begin this sign-in, or it blocks cookies. Open the page again."),
    "session_missing": text("That device is signed out already."),
    "address_missing": text("Your account has no such address."),
    "primary_address_unverified": text("Confirm your main address first."),
    "too_many_addresses": text("Your account has ten further addresses already. Remove one first."),
    "account_deletion_off": text("You cannot delete your account yourself. Ask for it in the app."),
    "customer_owns_organizations": text(
        "You are the only owner of an organization. Make another member its owner first."
    ),
    "passkey_missing": text("This passkey was removed already."),
    "provider_missing": text("Accounts of this kind cannot be connected here."),
    "identity_taken": text("This account is connected to somebody else’s account here."),
    "identity_linked": text("Another account of this kind is connected already. Disconnect it first."),
    "identity_missing": text("This account is not connected."),
    "mfa_off": text("No authenticator app is set up."),
    "mfa_still_required": text("You must keep this: your organization or this app requires a second factor."),
    "oauth_consent_missing": text("This app cannot use your account any more."),
    "member_missing": text("This person does not belong to the organization."),
    "not_your_organization": text("You do not belong to this organization, or it does not exist any more."),
    "member_not_permitted": text("Your role in this organization does not allow this."),
    "role_not_assignable": text("You can give or take only roles that allow no more than your own."),
    "role_unknown": text("This role does not exist any more. Choose another one."),
    "already_member": text("This person belongs to the organization already."),
    "already_invited": text("This address is invited already."),
    "too_many_invitations": text("Too many invitations are open. Withdraw some first."),
    "organization_missing": text("This organization does not exist any more."),
    "domain_not_proved": text("Confirm the domain first."),
    "too_many_organization_domains": text("There are too many domains. Remove some first."),
    "sso_not_ready": text("The company sign-in does not work yet."),
    "sso_still_required": text("The company sign-in is required, and would no longer work."),
    "owners_locked_out": text("No owner of the organization could sign in then."),
    "last_owner": text("The last owner must stay. Make another member an owner first."),
}
"""The text for each code of a problem that pages show to customers."""
INVALID_TEXTS: dict[str, Text] = {
    "invalid_address": text("This is not a complete e-mail address."),
    "passkey_invalid": text("This passkey could not be checked. Try again."),
    "passkey_known": text("This passkey was added already."),
    "not_allowed": text(
        "This link does not lead back to an app that is allowed here. Go back to the app and start again."
    ),
    "passkey_missing": text("Your browser sent no passkey. Passkeys need JavaScript: switch it on and try again."),
    "invalid_domain": text("This is not a domain. Enter it like example.com, without https:// and without paths."),
    "public_suffix": text("This is the ending of many domains. Enter the domain of your organization."),
    "public_mailbox_provider": text("Anyone can get an address at this domain. Enter the domain of your organization."),
    "field_missing": text("Fill in all fields."),
    "no_method": text("Allow at least one way to sign in."),
    "wrong_confirmation": text("Type the address exactly as it is shown."),
    "value_invalid": text("Please check what you entered: something is too short, too long or misspelled."),
    "incomplete_link": text("This link is incomplete. Go back to the app and start again."),
}
"""The text for each code of an error of the problem `invalid`."""
UNAVAILABLE = text("Something went wrong on our side. Try again in a few minutes.")
REFUSED = text("That did not work. Go back to the app and start again.")
FAILED = text("This did not work")
"""The title of error pages."""


def text_of(problem: Problem) -> Text:
    """What a page says about a problem."""
    if problem.for_people is not None:
        return Text(text="{message}", values={"message": problem.for_people})
    return text_of_code(
        problem.code(),
        status=problem.status,
        retry_after_seconds=problem.retry_after_seconds,
        errors=[(error.path, error.code) for error in problem.errors],
    )


def text_of_code(
    code: str, *, status: int, retry_after_seconds: int | None = None, errors: Sequence[tuple[str, str]] = ()
) -> Text:
    """What a page says about the problem with this code and HTTP status; `errors` are paths and codes."""
    if status == 429:
        minutes = -(-(retry_after_seconds or 60) // 60)
        return counted_text(
            "Too many attempts. Try again in a minute.", "Too many attempts. Try again in {count} minutes.", minutes
        )
    for path, error_code in errors:
        if error_code == "required":
            return INVALID_TEXTS["incomplete_link" if path.startswith("query") else "field_missing"]
        if error_code in INVALID_TEXTS:
            return INVALID_TEXTS[error_code]
    if code == "invalid":
        return INVALID_TEXTS["value_invalid"]
    return PROBLEM_TEXTS.get(code) or (UNAVAILABLE if status >= 500 else REFUSED)
