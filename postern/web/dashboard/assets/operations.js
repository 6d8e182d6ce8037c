var e=`
developers.signUp POST /auth/sign-up jn
developers.signIn POST /auth/sign-in jn
developers.refresh POST /auth/refresh jn
developers.signOut POST /auth/sign-out E
developers.verifyEmail POST /auth/verify-email jn
developers.resendVerification POST /auth/verify-email/resend E
developers.requestPasswordReset POST /auth/password/forgot jEn
developers.resetPassword POST /auth/password/reset jEn
developers.sessions.list GET /auth/sessions
developers.sessions.revokeOthers DELETE /auth/sessions E
developers.sessions.revoke DELETE /auth/sessions/{sessionId} E
developers.totp.enroll POST /auth/mfa/totp j
developers.totp.confirm POST /auth/mfa/totp/confirm j
developers.totp.disable POST /auth/mfa/totp/disable jE
developers.renewRecoveryCodes POST /auth/mfa/recovery-codes j
developers.passkeys.beginRegistration POST /auth/passkeys/register/options j
developers.passkeys.register POST /auth/passkeys/register j
developers.passkeys.list GET /auth/passkeys
developers.passkeys.delete DELETE /auth/passkeys/{id} E
developers.passkeys.beginSignIn POST /auth/passkeys/sign-in/options n
developers.passkeys.signIn POST /auth/passkeys/sign-in jn
account.get GET /account
account.update PATCH /account j
account.delete DELETE /account j
developers.changePassword PATCH /account/password jE
account.members.list GET /account/members ql
account.invitations.list GET /account/invitations ql
account.invitations.create POST /account/invitations j
account.invitations.revoke DELETE /account/invitations/{id} E
account.invitations.accept POST /account/invitations/accept j
account.members.updateRole PATCH /account/members/{userId} j
account.members.remove DELETE /account/members/{userId} E
account.leave POST /account/leave E
account.members.transferOwnership POST /account/members/{userId}/transfer-ownership j
account.auditLog.list GET /account/audit-log qp
account.export GET /account/export
projects.delete DELETE /projects/{id}
projects.get GET /projects/{projectId}
projects.update PATCH /projects/{projectId} j
projects.list GET /projects ql
projects.create POST /projects j
apiKeys.list GET /projects/{projectId}/api-keys ql
apiKeys.create POST /projects/{projectId}/api-keys j
apiKeys.delete DELETE /projects/{projectId}/api-keys/{id}
events.list GET /projects/{projectId}/events qc
events.record POST /projects/{projectId}/events ji
access.permissions.list GET /projects/{projectId}/access/permissions ql
access.permissions.create POST /projects/{projectId}/access/permissions j
access.permissions.delete DELETE /projects/{projectId}/access/permissions/{key}
access.roles.list GET /projects/{projectId}/access/roles ql
access.roles.create POST /projects/{projectId}/access/roles j
access.roles.get GET /projects/{projectId}/access/roles/{key} q
access.roles.update PATCH /projects/{projectId}/access/roles/{key} j
access.roles.delete DELETE /projects/{projectId}/access/roles/{key}
access.check POST /projects/{projectId}/access/check j
access.checkBatch POST /projects/{projectId}/access/check/batch j
domains.list GET /projects/{projectId}/domains ql
domains.create POST /projects/{projectId}/domains j
domains.get GET /projects/{projectId}/domains/{id}
domains.delete DELETE /projects/{projectId}/domains/{id} q
domains.verify POST /projects/{projectId}/domains/{id}/verify
domains.rotateKeys POST /projects/{projectId}/domains/{id}/rotate-keys
domains.getBlocklistStatus GET /projects/{projectId}/domains/{id}/blocklist-status
domains.addDmarcReport POST /projects/{projectId}/domains/{id}/dmarc-reports b application/octet-stream
domains.getDmarcSummary GET /projects/{projectId}/domains/{id}/dmarc q
senders.list GET /projects/{projectId}/senders
senders.create POST /projects/{projectId}/senders j
senders.get GET /projects/{projectId}/senders/{id}
senders.delete DELETE /projects/{projectId}/senders/{id}
senders.resendVerification POST /projects/{projectId}/senders/{id}/resend
senders.verify POST /projects/{projectId}/senders/{id}/verify j
webhooks.list GET /projects/{projectId}/webhooks ql
webhooks.create POST /projects/{projectId}/webhooks j
webhooks.get GET /projects/{projectId}/webhooks/{id}
webhooks.update PATCH /projects/{projectId}/webhooks/{id} j
webhooks.delete DELETE /projects/{projectId}/webhooks/{id}
webhooks.rotateSecret POST /projects/{projectId}/webhooks/{id}/rotate-secret j
webhooks.deliveries.list GET /projects/{projectId}/webhooks/{id}/deliveries ql
webhooks.deliveries.get GET /projects/{projectId}/webhooks/{id}/deliveries/{deliveryId}
webhooks.deliveries.replay POST /projects/{projectId}/webhooks/{id}/deliveries/{deliveryId}/replay E
webhooks.deliveries.replayAll POST /projects/{projectId}/webhooks/{id}/deliveries/replay j
webhooks.sendTest POST /projects/{projectId}/webhooks/{id}/test
assets.create POST /projects/{projectId}/assets b application/octet-stream
assets.list GET /projects/{projectId}/assets ql
assets.get GET /projects/{projectId}/assets/{id}
assets.delete DELETE /projects/{projectId}/assets/{id}
templates.list GET /projects/{projectId}/templates ql
templates.create POST /projects/{projectId}/templates j
templates.get GET /projects/{projectId}/templates/{id}
templates.update PATCH /projects/{projectId}/templates/{id} j
templates.delete DELETE /projects/{projectId}/templates/{id}
templates.duplicate POST /projects/{projectId}/templates/{id}/duplicate
templates.preview POST /projects/{projectId}/templates/{id}/preview j
templates.render POST /projects/{projectId}/templates/render j
templates.listVersions GET /projects/{projectId}/templates/{id}/versions
contacts.imports.create POST /projects/{projectId}/contacts/import b text/csv
contacts.imports.preview POST /projects/{projectId}/contacts/import/preview b text/csv
contacts.imports.list GET /projects/{projectId}/contacts/imports ql
contacts.imports.get GET /projects/{projectId}/contacts/imports/{id}
contacts.export GET /projects/{projectId}/contacts/export T
contacts.list GET /projects/{projectId}/contacts qp
contacts.create POST /projects/{projectId}/contacts j
contacts.get GET /projects/{projectId}/contacts/{id}
contacts.update PATCH /projects/{projectId}/contacts/{id} j
contacts.delete DELETE /projects/{projectId}/contacts/{id}
contacts.listAudiences GET /projects/{projectId}/contacts/{id}/audiences
contacts.attributes.list GET /projects/{projectId}/contact-attributes ql
contacts.attributes.create POST /projects/{projectId}/contact-attributes j
contacts.attributes.get GET /projects/{projectId}/contact-attributes/{id}
contacts.attributes.update PATCH /projects/{projectId}/contact-attributes/{id} j
contacts.attributes.delete DELETE /projects/{projectId}/contact-attributes/{id}
audiences.list GET /projects/{projectId}/audiences ql
audiences.create POST /projects/{projectId}/audiences j
audiences.get GET /projects/{projectId}/audiences/{id}
audiences.update PATCH /projects/{projectId}/audiences/{id} j
audiences.delete DELETE /projects/{projectId}/audiences/{id}
audiences.setRules PATCH /projects/{projectId}/audiences/{id}/rules j
audiences.recompute POST /projects/{projectId}/audiences/{id}/recompute
audiences.contacts.list GET /projects/{projectId}/audiences/{id}/contacts qp
audiences.contacts.add POST /projects/{projectId}/audiences/{id}/contacts j
audiences.contacts.addEmail POST /projects/{projectId}/audiences/{id}/contacts/by-email j
audiences.contacts.addEmails POST /projects/{projectId}/audiences/{id}/contacts/bulk-email j
audiences.contacts.remove DELETE /projects/{projectId}/audiences/{id}/contacts/{contactId}
audiences.preview POST /projects/{projectId}/audiences/preview j
emails.send POST /projects/{projectId}/emails ji
emails.sendBatch POST /projects/{projectId}/emails/batch ji
emails.get GET /projects/{projectId}/emails/logs/{sendId}
emails.getRaw GET /projects/{projectId}/emails/logs/{sendId}/message B
emails.listAttempts GET /projects/{projectId}/emails/logs/{sendId}/attempts
emails.listReports GET /projects/{projectId}/emails/logs/{sendId}/reports
emails.reschedule PATCH /projects/{projectId}/emails/{sendId} j
emails.cancel POST /projects/{projectId}/emails/{sendId}/cancel
emails.retry POST /projects/{projectId}/emails/{sendId}/retry
emails.preflight POST /projects/{projectId}/emails/preflight j
emails.list GET /projects/{projectId}/emails/logs qp
emails.export GET /projects/{projectId}/emails/logs/export qT
suppressions.list GET /projects/{projectId}/suppressions qp
suppressions.add POST /projects/{projectId}/suppressions j
suppressions.export GET /projects/{projectId}/suppressions/export qT
suppressions.addBatch POST /projects/{projectId}/suppressions/bulk j
suppressions.get GET /projects/{projectId}/suppressions/{address}
suppressions.remove DELETE /projects/{projectId}/suppressions/{address}
deliverySites.list GET /projects/{projectId}/delivery/sites ql
deliverySites.get GET /projects/{projectId}/delivery/sites/{site}
deliverySites.suspend POST /projects/{projectId}/delivery/sites/{site}/suspend j
deliverySites.resume POST /projects/{projectId}/delivery/sites/{site}/resume
deliverySites.bounce POST /projects/{projectId}/delivery/sites/{site}/bounce j
domains.getReputation GET /projects/{projectId}/domains/{domainId}/reputation q
domains.releaseReputation POST /projects/{projectId}/domains/{domainId}/reputation/release j
domains.setWarmUp PUT /projects/{projectId}/domains/{domainId}/warm-up j
domains.getWarmUp GET /projects/{projectId}/domains/{domainId}/warm-up
domains.deleteWarmUp DELETE /projects/{projectId}/domains/{domainId}/warm-up
domains.listCertificates GET /projects/{projectId}/domains/{id}/certificates
projects.getPagesDomain GET /projects/{projectId}/pages-domain
customers.list GET /projects/{projectId}/customers qp
customers.create POST /projects/{projectId}/customers j
customers.importBatch POST /projects/{projectId}/customers/import j
customers.getStats GET /projects/{projectId}/customers/stats
customers.export GET /projects/{projectId}/customers/export qT
customers.get GET /projects/{projectId}/customers/{id}
customers.delete DELETE /projects/{projectId}/customers/{id} q
customers.update PATCH /projects/{projectId}/customers/{id} j
customers.listTimeline GET /projects/{projectId}/customers/{id}/timeline qc
customers.listEvents GET /projects/{projectId}/customers/{id}/events qc
customers.listAuditLog GET /projects/{projectId}/customers/{id}/audit-log qp
customers.ban POST /projects/{projectId}/customers/{id}/ban j
customers.unban POST /projects/{projectId}/customers/{id}/unban
customers.unlock POST /projects/{projectId}/customers/{id}/unlock
customers.sessions.revoke POST /projects/{projectId}/customers/{id}/sessions/{sessionId}/revoke E
customers.sessions.revokeAll POST /projects/{projectId}/customers/{id}/sessions/revoke-all E
customers.resetMfa POST /projects/{projectId}/customers/{id}/mfa/reset E
customers.updateMetadata PATCH /projects/{projectId}/customers/{id}/metadata j
customers.addRoles PATCH /projects/{projectId}/customers/{id}/roles j
customers.replaceRoles PUT /projects/{projectId}/customers/{id}/roles j
customers.link POST /projects/{projectId}/customers/link j
apps.customers.list GET /apps/{appId}/end-users qp
apps.customers.getStats GET /apps/{appId}/end-users/stats
apps.customers.export GET /apps/{appId}/end-users/export qT
apps.customers.get GET /apps/{appId}/end-users/{id}
apps.customers.delete DELETE /apps/{appId}/end-users/{id} q
apps.customers.listAuditLog GET /apps/{appId}/end-users/{id}/audit-log qp
apps.customers.ban POST /apps/{appId}/end-users/{id}/ban j
apps.customers.unban POST /apps/{appId}/end-users/{id}/unban
apps.customers.unlock POST /apps/{appId}/end-users/{id}/unlock
apps.customers.sessions.revoke POST /apps/{appId}/end-users/{id}/sessions/{sessionId}/revoke E
apps.customers.sessions.revokeAll POST /apps/{appId}/end-users/{id}/sessions/revoke-all E
apps.customers.resetMfa POST /apps/{appId}/end-users/{id}/mfa/reset E
apps.customers.updateMetadata PATCH /apps/{appId}/end-users/{id}/metadata j
apps.customers.addRoles PATCH /apps/{appId}/end-users/{id}/roles j
signingKeys.list GET /projects/{projectId}/.well-known/jwks.json n
signingKeys.rotate POST /projects/{projectId}/auth/signing-keys/rotate E
auth.refresh POST /projects/{projectId}/auth/token/refresh jn
auth.signOut POST /projects/{projectId}/auth/sign-out E
auth.me GET /projects/{projectId}/auth/me
auth.updateMe PATCH /projects/{projectId}/auth/me j
auth.deleteMe DELETE /projects/{projectId}/auth/me E
auth.getPermissions GET /projects/{projectId}/auth/permissions
auth.sessions.list GET /projects/{projectId}/auth/sessions
auth.sessions.revoke DELETE /projects/{projectId}/auth/sessions/{sessionId} E
auth.sessions.revokeOthers POST /projects/{projectId}/auth/sessions/revoke-others E
auth.signUp POST /projects/{projectId}/auth/sign-up jn
auth.resendSignUpCode POST /projects/{projectId}/auth/sign-up/resend jn
auth.verifySignUp POST /projects/{projectId}/auth/sign-up/verify jn
auth.signIn POST /projects/{projectId}/auth/sign-in jn
auth.requestSignInCode POST /projects/{projectId}/auth/sign-in/code jn
auth.signInWithCode POST /projects/{projectId}/auth/sign-in/code/verify jn
auth.requestSignInLink POST /projects/{projectId}/auth/sign-in/link jEn
auth.signInWithLink POST /projects/{projectId}/auth/sign-in/link/verify jn
auth.acceptTerms POST /projects/{projectId}/auth/terms/accept jn
customers.listAcceptedTerms GET /projects/{projectId}/customers/{id}/terms
auth.requestPasswordReset POST /projects/{projectId}/auth/password/forgot jEn
auth.resetPassword POST /projects/{projectId}/auth/password/reset jEn
auth.changePassword POST /projects/{projectId}/auth/password/change jE
auth.requestEmailVerification POST /projects/{projectId}/auth/verify-email/send
auth.requestEmailChange POST /projects/{projectId}/auth/email/change j
auth.verifyEmail POST /projects/{projectId}/auth/verify-email j
auth.totp.enroll POST /projects/{projectId}/auth/mfa/totp/enroll
auth.totp.confirm POST /projects/{projectId}/auth/mfa/totp/confirm j
auth.beginRequiredTotp POST /projects/{projectId}/auth/mfa/enroll jn
auth.confirmRequiredTotp POST /projects/{projectId}/auth/mfa/enroll/confirm jn
auth.totp.disable POST /projects/{projectId}/auth/mfa/totp/disable jE
auth.renewRecoveryCodes POST /projects/{projectId}/auth/recovery-codes j
auth.verifySecondFactor POST /projects/{projectId}/auth/mfa/verify jn
auth.passkeys.beginRegistration POST /projects/{projectId}/auth/passkeys/register/options
auth.passkeys.register POST /projects/{projectId}/auth/passkeys/register j
auth.passkeys.list GET /projects/{projectId}/auth/passkeys
auth.passkeys.rename PATCH /projects/{projectId}/auth/passkeys/{id} j
auth.passkeys.delete DELETE /projects/{projectId}/auth/passkeys/{id} E
auth.passkeys.beginSignIn POST /projects/{projectId}/auth/passkeys/sign-in/options n
auth.passkeys.signIn POST /projects/{projectId}/auth/passkeys/sign-in jn
auth.getStepUpOptions GET /projects/{projectId}/auth/step-up
auth.stepUp POST /projects/{projectId}/auth/step-up j
auth.requestStepUpCode POST /projects/{projectId}/auth/step-up/email-code
auth.passkeys.beginStepUp POST /projects/{projectId}/auth/step-up/passkey-options
auth.rememberedDevices.list GET /projects/{projectId}/auth/remembered-devices
auth.rememberedDevices.delete DELETE /projects/{projectId}/auth/remembered-devices/{id} E
signInHooks.list GET /projects/{projectId}/sign-in-hooks
signInHooks.create POST /projects/{projectId}/sign-in-hooks j
signInHooks.get GET /projects/{projectId}/sign-in-hooks/{kind}
signInHooks.update PATCH /projects/{projectId}/sign-in-hooks/{kind} j
signInHooks.delete DELETE /projects/{projectId}/sign-in-hooks/{kind}
signInHooks.rotateSecret POST /projects/{projectId}/sign-in-hooks/{kind}/rotate-secret j
signInHooks.test POST /projects/{projectId}/sign-in-hooks/{kind}/test
customers.impersonate POST /projects/{projectId}/customers/{id}/impersonate j
customers.createImpersonationLink POST /projects/{projectId}/customers/{id}/impersonation-links j
pages.impersonationLink GET /projects/{projectId}/auth/pages/impersonation-link qTn
pages.submitImpersonationLink POST /projects/{projectId}/auth/pages/impersonation-link fTn
pages.deniedSignIn GET /projects/{projectId}/auth/pages/not-me qTn
pages.denySignIn POST /projects/{projectId}/auth/pages/not-me fTn
providers.list GET /projects/{projectId}/auth/providers
providers.set PUT /projects/{projectId}/auth/providers/{key} j
providers.delete DELETE /projects/{projectId}/auth/providers/{key}
auth.startProviderSignIn GET /projects/{projectId}/auth/providers/{key}/start qRn
pages.providerCallback GET /projects/{projectId}/auth/providers/callback qRn
pages.submitProviderCallback POST /projects/{projectId}/auth/providers/callback fRn
auth.exchangeCode POST /projects/{projectId}/auth/token jn
auth.identities.beginLink POST /projects/{projectId}/auth/identities/{key}/link j
auth.identities.finishLink POST /projects/{projectId}/auth/identities j
auth.identities.unlink DELETE /projects/{projectId}/auth/identities/{key} E
customers.identityRequests.list GET /projects/{projectId}/identity-requests ql
customers.identityRequests.approve POST /projects/{projectId}/identity-requests/{id}/approve
customers.identityRequests.reject POST /projects/{projectId}/identity-requests/{id}/reject
pages.style GET /projects/{projectId}/auth/pages/style.css Tn
pages.signIn GET /projects/{projectId}/auth/pages/sign-in Tn
pages.submitSignIn POST /projects/{projectId}/auth/pages/sign-in fTn
pages.signUp GET /projects/{projectId}/auth/pages/sign-up Tn
pages.submitSignUp POST /projects/{projectId}/auth/pages/sign-up fTn
pages.resendSignUpCode POST /projects/{projectId}/auth/pages/sign-up/resend fTn
pages.verifySignUp POST /projects/{projectId}/auth/pages/sign-up/verify fTn
pages.requestCode POST /projects/{projectId}/auth/pages/code fTn
pages.startSso POST /projects/{projectId}/auth/pages/sso fTn
pages.submitCode POST /projects/{projectId}/auth/pages/code/verify fTn
pages.submitSecondFactor POST /projects/{projectId}/auth/pages/mfa fTn
pages.secondFactor GET /projects/{projectId}/auth/pages/mfa Tn
pages.enrollSecondFactor POST /projects/{projectId}/auth/pages/mfa/enroll fTn
pages.confirmRecoveryCodes POST /projects/{projectId}/auth/pages/mfa/enroll/done fTn
pages.terms GET /projects/{projectId}/auth/pages/terms Tn
pages.submitTerms POST /projects/{projectId}/auth/pages/terms fTn
pages.showContinue GET /projects/{projectId}/auth/pages/continue Tn
pages.passkeyOptions POST /projects/{projectId}/auth/pages/passkey/options fn
pages.submitPasskey POST /projects/{projectId}/auth/pages/passkey fTn
pages.addPasskey POST /projects/{projectId}/auth/pages/passkey/add fTn
pages.skipPasskey POST /projects/{projectId}/auth/pages/passkey/skip fTn
pages.forgotPassword GET /projects/{projectId}/auth/pages/forgot Tn
pages.submitForgotPassword POST /projects/{projectId}/auth/pages/forgot fTn
pages.resetPassword GET /projects/{projectId}/auth/pages/reset qTn
pages.submitResetPassword POST /projects/{projectId}/auth/pages/reset fTn
customerMails.list GET /projects/{projectId}/customer-mails
customerMails.get GET /projects/{projectId}/customer-mails/{mail}/{language}
customerMails.set PUT /projects/{projectId}/customer-mails/{mail}/{language} j
customerMails.reset DELETE /projects/{projectId}/customer-mails/{mail}/{language}
customerMails.listVersions GET /projects/{projectId}/customer-mails/{mail}/{language}/versions
customerMails.restore POST /projects/{projectId}/customer-mails/{mail}/{language}/restore j
customerMails.preview POST /projects/{projectId}/customer-mails/{mail}/{language}/preview j
customerMails.test POST /projects/{projectId}/customer-mails/{mail}/{language}/test j
pageTexts.list GET /projects/{projectId}/page-texts/{language} q
pageTexts.set PUT /projects/{projectId}/page-texts/{language}/{textId} j
pageTexts.reset DELETE /projects/{projectId}/page-texts/{language}/{textId} E
sso.listAll GET /projects/{projectId}/b2b/sso-connections ql
sso.list GET /projects/{projectId}/b2b/organizations/{id}/sso-connections ql
sso.create POST /projects/{projectId}/b2b/organizations/{id}/sso-connections j
sso.get GET /projects/{projectId}/b2b/organizations/{id}/sso-connections/{connId}
sso.update PATCH /projects/{projectId}/b2b/organizations/{id}/sso-connections/{connId} j
sso.delete DELETE /projects/{projectId}/b2b/organizations/{id}/sso-connections/{connId}
sso.getMetadata GET /projects/{projectId}/b2b/organizations/{id}/sso-connections/{connId}/metadata.xml T
sso.activate POST /projects/{projectId}/b2b/organizations/{id}/sso-connections/{connId}/activate
sso.deactivate POST /projects/{projectId}/b2b/organizations/{id}/sso-connections/{connId}/deactivate
sso.rotateCertificate POST /projects/{projectId}/b2b/organizations/{id}/sso-connections/{connId}/rotate-certificate
sso.createTestLink POST /projects/{projectId}/b2b/organizations/{id}/sso-connections/{connId}/test
sso.listTraces GET /projects/{projectId}/b2b/organizations/{id}/sso-connections/{connId}/traces ql
apps.sso.list GET /apps/{appId}/organizations/{id}/sso-connections ql
apps.sso.create POST /apps/{appId}/organizations/{id}/sso-connections j
apps.sso.get GET /apps/{appId}/organizations/{id}/sso-connections/{connId}
apps.sso.update PATCH /apps/{appId}/organizations/{id}/sso-connections/{connId} j
apps.sso.delete DELETE /apps/{appId}/organizations/{id}/sso-connections/{connId}
apps.sso.getMetadata GET /apps/{appId}/organizations/{id}/sso-connections/{connId}/metadata.xml T
apps.sso.activate POST /apps/{appId}/organizations/{id}/sso-connections/{connId}/activate
apps.sso.deactivate POST /apps/{appId}/organizations/{id}/sso-connections/{connId}/deactivate
apps.sso.rotateCertificate POST /apps/{appId}/organizations/{id}/sso-connections/{connId}/rotate-certificate
apps.sso.createTestLink POST /apps/{appId}/organizations/{id}/sso-connections/{connId}/test
apps.sso.listTraces GET /apps/{appId}/organizations/{id}/sso-connections/{connId}/traces ql
auth.emails.list GET /projects/{projectId}/auth/emails
auth.emails.add POST /projects/{projectId}/auth/emails j
auth.emails.makePrimary POST /projects/{projectId}/auth/emails/primary j
auth.emails.remove POST /projects/{projectId}/auth/emails/remove jE
auth.export GET /projects/{projectId}/auth/export
campaigns.list GET /projects/{projectId}/campaigns ql
campaigns.create POST /projects/{projectId}/campaigns j
campaigns.get GET /projects/{projectId}/campaigns/{id}
campaigns.update PATCH /projects/{projectId}/campaigns/{id} j
campaigns.delete DELETE /projects/{projectId}/campaigns/{id}
campaigns.send POST /projects/{projectId}/campaigns/{id}/send
campaigns.cancel POST /projects/{projectId}/campaigns/{id}/cancel
campaigns.pause POST /projects/{projectId}/campaigns/{id}/pause
campaigns.resume POST /projects/{projectId}/campaigns/{id}/resume
campaigns.cancelAbTest POST /projects/{projectId}/campaigns/{id}/ab-test/cancel
campaigns.selectAbTestWinner POST /projects/{projectId}/campaigns/{id}/ab-test/select-winner j
campaigns.sendTest POST /projects/{projectId}/campaigns/{id}/test j
campaigns.preflight POST /projects/{projectId}/campaigns/{id}/preflight j
campaigns.sendTestToSeedList POST /projects/{projectId}/campaigns/{id}/test-seed-list
campaigns.duplicate POST /projects/{projectId}/campaigns/{id}/duplicate
campaigns.listSends GET /projects/{projectId}/campaigns/{id}/sends qp
campaigns.exportSends GET /projects/{projectId}/campaigns/{id}/sends/export qT
analytics.get GET /projects/{projectId}/analytics q
analytics.getTimeSeries GET /projects/{projectId}/analytics/time-series q
analytics.getByDomain GET /projects/{projectId}/analytics/by-domain q
analytics.export GET /projects/{projectId}/analytics/export qT
tracking.open GET /t/o/{sendId} Bn
tracking.click GET /t/c/{sendId} qRn
tracking.showUnsubscribe GET /t/u/{sendId} qTn
tracking.unsubscribe POST /t/u/{sendId} qTn
emails.listHits GET /projects/{projectId}/emails/logs/{sendId}/hits
inbound.receiveReport POST /projects/{projectId}/inbound/reports b message/rfc822
inbound.listUnrecognized GET /projects/{projectId}/inbound/reports ql
inbound.getUnrecognized GET /projects/{projectId}/inbound/reports/{id}/message B
inbound.routes.list GET /projects/{projectId}/inbound/routes ql
inbound.routes.create POST /projects/{projectId}/inbound/routes j
inbound.routes.get GET /projects/{projectId}/inbound/routes/{id}
inbound.routes.update PATCH /projects/{projectId}/inbound/routes/{id} j
inbound.routes.delete DELETE /projects/{projectId}/inbound/routes/{id}
inbound.routes.verify POST /projects/{projectId}/inbound/routes/{id}/verify
inbound.list GET /projects/{projectId}/inbound ql
inbound.add POST /projects/{projectId}/inbound b message/rfc822
inbound.get GET /projects/{projectId}/inbound/{id}
inbound.delete DELETE /projects/{projectId}/inbound/{id}
inbound.getRaw GET /projects/{projectId}/inbound/{id}/raw B
inbound.getAttachment GET /projects/{projectId}/inbound/{id}/attachments/{number} B
inbox.list GET /projects/{projectId}/inbox qp
inbox.get GET /projects/{projectId}/inbox/{id}
inbox.delete DELETE /projects/{projectId}/inbox/{id}
inbox.getRaw GET /projects/{projectId}/inbox/{id}/raw B
inbox.getAttachment GET /projects/{projectId}/inbox/{id}/attachments/{number} B
emails.preview POST /projects/{projectId}/emails/logs/{sendId}/preview j
inbox.preview POST /projects/{projectId}/inbox/{id}/preview j
automations.list GET /projects/{projectId}/automations ql
automations.create POST /projects/{projectId}/automations j
automations.get GET /projects/{projectId}/automations/{id}
automations.update PATCH /projects/{projectId}/automations/{id} j
automations.delete DELETE /projects/{projectId}/automations/{id}
automations.setActive PATCH /projects/{projectId}/automations/{id}/active j
automations.runs.list GET /projects/{projectId}/automations/{id}/runs ql
automations.runs.get GET /projects/{projectId}/automations/{id}/runs/{runId}
automations.runs.cancel POST /projects/{projectId}/automations/{id}/runs/{runId}/cancel
automations.runs.retry POST /projects/{projectId}/automations/{id}/runs/{runId}/retry
automations.runs.retryAll POST /projects/{projectId}/automations/{id}/runs/retry
automations.getTotals GET /projects/{projectId}/automations/{id}/totals
automations.listPositions GET /projects/{projectId}/automations/{id}/positions
automations.getWebhookSecret GET /projects/{projectId}/automations/{id}/webhook-secret
automations.dryRun POST /projects/{projectId}/automations/{id}/dry-run j
events.recordBatch POST /projects/{projectId}/events/batch ji
organizations.list GET /projects/{projectId}/b2b/organizations ql
organizations.create POST /projects/{projectId}/b2b/organizations j
organizations.get GET /projects/{projectId}/b2b/organizations/{id}
organizations.update PATCH /projects/{projectId}/b2b/organizations/{id} j
organizations.delete DELETE /projects/{projectId}/b2b/organizations/{id}
organizations.members.list GET /projects/{projectId}/b2b/organizations/{id}/members ql
organizations.members.add POST /projects/{projectId}/b2b/organizations/{id}/members j
organizations.members.get GET /projects/{projectId}/b2b/organizations/{id}/members/{customerId}
organizations.members.update PATCH /projects/{projectId}/b2b/organizations/{id}/members/{customerId} j
organizations.members.remove DELETE /projects/{projectId}/b2b/organizations/{id}/members/{customerId}
auth.organizations.list GET /projects/{projectId}/auth/organizations ql
customers.listOrganizations GET /projects/{projectId}/customers/{id}/organizations ql
auth.organizations.leave DELETE /projects/{projectId}/auth/organizations/{id}
organizations.invitations.list GET /projects/{projectId}/b2b/organizations/{id}/invitations ql
organizations.invitations.create POST /projects/{projectId}/b2b/organizations/{id}/invitations j
organizations.invitations.resend POST /projects/{projectId}/b2b/organizations/{id}/invitations/{invitationId}/resend
organizations.invitations.revoke DELETE /projects/{projectId}/b2b/organizations/{id}/invitations/{invitationId}
auth.invitations.preview POST /projects/{projectId}/auth/invitations/preview jn
auth.invitations.accept POST /projects/{projectId}/auth/invitations/accept j
pages.invitation GET /projects/{projectId}/auth/pages/invitation qTn
pages.submitInvitation POST /projects/{projectId}/auth/pages/invitation fTn
organizations.domains.list GET /projects/{projectId}/b2b/organizations/{organizationId}/domains ql
organizations.domains.add POST /projects/{projectId}/b2b/organizations/{organizationId}/domains j
organizations.domains.verify POST /projects/{projectId}/b2b/organizations/{organizationId}/domains/{domainId}/verify
organizations.domains.update PATCH /projects/{projectId}/b2b/organizations/{organizationId}/domains/{domainId} j
organizations.domains.remove DELETE /projects/{projectId}/b2b/organizations/{organizationId}/domains/{domainId}
organizations.joinByDomain POST /projects/{projectId}/b2b/domain-join j
apps.organizations.list GET /apps/{appId}/organizations ql
apps.organizations.create POST /apps/{appId}/organizations j
apps.organizations.get GET /apps/{appId}/organizations/{id}
apps.organizations.update PATCH /apps/{appId}/organizations/{id} j
apps.organizations.delete DELETE /apps/{appId}/organizations/{id}
apps.organizations.members.list GET /apps/{appId}/organizations/{id}/members ql
apps.organizations.members.add POST /apps/{appId}/organizations/{id}/members j
apps.organizations.members.get GET /apps/{appId}/organizations/{id}/members/{customerId}
apps.organizations.members.update PATCH /apps/{appId}/organizations/{id}/members/{customerId} j
apps.organizations.members.remove DELETE /apps/{appId}/organizations/{id}/members/{customerId}
apps.organizations.invitations.list GET /apps/{appId}/organizations/{id}/invitations ql
apps.organizations.invitations.create POST /apps/{appId}/organizations/{id}/invitations j
apps.organizations.invitations.resend POST /apps/{appId}/organizations/{id}/invitations/{invitationId}/resend
apps.organizations.invitations.revoke DELETE /apps/{appId}/organizations/{id}/invitations/{invitationId}
billing.get GET /account/auth-billing
billing.beginCheckout POST /account/auth-billing/checkout j
billing.beginB2bCheckout POST /account/auth-billing/b2b-enhanced j
billing.openPortal POST /account/auth-billing/portal
features.list GET /projects/{projectId}/b2b/features ql
features.create POST /projects/{projectId}/b2b/features j
features.get GET /projects/{projectId}/b2b/features/{key}
features.update PATCH /projects/{projectId}/b2b/features/{key} j
features.delete DELETE /projects/{projectId}/b2b/features/{key} E
plans.list GET /projects/{projectId}/b2b/plans ql
plans.create POST /projects/{projectId}/b2b/plans j
plans.get GET /projects/{projectId}/b2b/plans/{key}
plans.update PATCH /projects/{projectId}/b2b/plans/{key} j
plans.delete DELETE /projects/{projectId}/b2b/plans/{key}
organizations.getPlan GET /projects/{projectId}/b2b/organizations/{organizationId}/plan
organizations.setPlan PUT /projects/{projectId}/b2b/organizations/{organizationId}/plan jE
entitlements.check POST /projects/{projectId}/b2b/entitlements/check j
entitlements.list GET /projects/{projectId}/b2b/organizations/{organizationId}/entitlements
entitlements.setOverride PUT /projects/{projectId}/b2b/organizations/{organizationId}/entitlements/{featureKey} j
entitlements.deleteOverride DELETE /projects/{projectId}/b2b/organizations/{organizationId}/entitlements/{featureKey}
auth.findSsoConnection GET /projects/{projectId}/auth/sso qn
pages.findSsoConnection POST /projects/{projectId}/auth/sso jn
saml.getMetadata GET /sso/saml/{connId}/metadata.xml Tn
saml.begin GET /sso/saml/{connId}/login qTn
saml.receiveResponse POST /sso/saml/{connId}/acs fTn
auth.signOutWithSso POST /projects/{projectId}/auth/sso/sign-out j
saml.receiveLogout GET /sso/saml/{connId}/slo Tn
saml.submitLogout POST /sso/saml/{connId}/slo fTn
oidc.begin GET /sso/oidc/{connId}/login qTn
oidc.receiveResponse GET /sso/oidc/{connId}/callback qTn
oidc.receiveLogout GET /sso/oidc/{connId}/signed-out qTn
oidc.receiveBackchannelLogout POST /sso/oidc/{connId}/backchannel-logout fEn
directories.list GET /projects/{projectId}/b2b/organizations/{id}/directory-connections ql
directories.create POST /projects/{projectId}/b2b/organizations/{id}/directory-connections j
directories.get GET /projects/{projectId}/b2b/organizations/{id}/directory-connections/{connId}
directories.update PATCH /projects/{projectId}/b2b/organizations/{id}/directory-connections/{connId} j
directories.delete DELETE /projects/{projectId}/b2b/organizations/{id}/directory-connections/{connId}
directories.rotateToken POST /projects/{projectId}/b2b/organizations/{id}/directory-connections/{connId}/rotate-token j
directories.listUsers GET /projects/{projectId}/b2b/organizations/{id}/directory-connections/{connId}/users ql
directories.listGroups GET /projects/{projectId}/b2b/organizations/{id}/directory-connections/{connId}/groups ql
organizations.setupLinks.list GET /projects/{projectId}/b2b/organizations/{id}/setup-links ql
organizations.setupLinks.create POST /projects/{projectId}/b2b/organizations/{id}/setup-links j
organizations.setupLinks.get GET /projects/{projectId}/b2b/organizations/{id}/setup-links/{linkId}
organizations.setupLinks.revoke DELETE /projects/{projectId}/b2b/organizations/{id}/setup-links/{linkId}
customers.importRows POST /projects/{projectId}/customers/import/rows j
oauthClients.list GET /projects/{projectId}/oauth-clients ql
oauthClients.create POST /projects/{projectId}/oauth-clients j
oauthClients.get GET /projects/{projectId}/oauth-clients/{id}
oauthClients.update PATCH /projects/{projectId}/oauth-clients/{id} j
oauthClients.delete DELETE /projects/{projectId}/oauth-clients/{id}
oauthClients.rotateSecret POST /projects/{projectId}/oauth-clients/{id}/rotate-secret j
customers.listConsents GET /projects/{projectId}/customers/{id}/oauth-consents
customers.revokeConsent DELETE /projects/{projectId}/customers/{id}/oauth-consents/{clientId}
auth.listConsents GET /projects/{projectId}/auth/consents
auth.revokeConsent DELETE /projects/{projectId}/auth/consents/{clientId}
oauthResources.list GET /projects/{projectId}/oauth-resources ql
oauthResources.create POST /projects/{projectId}/oauth-resources j
oauthResources.get GET /projects/{projectId}/oauth-resources/{id}
oauthResources.update PATCH /projects/{projectId}/oauth-resources/{id} j
oauthResources.delete DELETE /projects/{projectId}/oauth-resources/{id}
oauth.registerClient POST /projects/{projectId}/oauth/register n
oauthClients.createRegistrationToken POST /projects/{projectId}/oauth-clients/registration-tokens
oauth.getConfiguration GET /projects/{projectId}/.well-known/openid-configuration n
oauth.getServerMetadata GET /.well-known/oauth-authorization-server/projects/{projectId} n
oauth.authorize GET /projects/{projectId}/oauth/authorize Tn
oauth.submitAuthorization POST /projects/{projectId}/oauth/authorize fRn
oauth.continueAuthorization GET /projects/{projectId}/oauth/continue qTn
oauth.resumeAuthorization GET /projects/{projectId}/oauth/resume qTn
oauth.submitConsent POST /projects/{projectId}/oauth/consent fTn
oauth.submitStepUp POST /projects/{projectId}/oauth/step-up fTn
oauth.passkeyOptionsForStepUp POST /projects/{projectId}/oauth/step-up/passkey-options fn
oauth.createTokens POST /projects/{projectId}/oauth/token fn
oauth.pushAuthorization POST /projects/{projectId}/oauth/par fn
oauth.revokeToken POST /projects/{projectId}/oauth/revoke fn
oauth.introspectToken POST /projects/{projectId}/oauth/introspect fn
oauth.getUserinfo GET /projects/{projectId}/oauth/userinfo n
oauth.submitUserinfo POST /projects/{projectId}/oauth/userinfo fn
oauth.authorizeDevice POST /projects/{projectId}/oauth/device_authorization fn
oauth.showDevicePage GET /projects/{projectId}/oauth/device Tn
oauth.submitDeviceCode POST /projects/{projectId}/oauth/device fTn
oauth.signOut GET /projects/{projectId}/oauth/logout Tn
oauth.submitSignOut POST /projects/{projectId}/oauth/logout fRn
oauth.confirmSignOut POST /projects/{projectId}/oauth/logout/confirm fTn
`;export{e as t};