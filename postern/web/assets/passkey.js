// Passkeys on the hosted pages: shows the passkey form, calls the browser's WebAuthn API, and submits the result.
"use strict";
(() => {
  const form = document.getElementById("passkey");
  if (!form || !window.PublicKeyCredential) return;
  const status = document.getElementById("passkey-status");
  const decode = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const encode = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
  const decodeOptions = (options) => {
    options.challenge = decode(options.challenge);
    if (options.user) options.user.id = decode(options.user.id);
    for (const descriptor of [...(options.excludeCredentials || []), ...(options.allowCredentials || [])])
      descriptor.id = decode(descriptor.id);
    return options;
  };
  const encodeCredential = (credential) => {
    const response = {};
    for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"])
      if (credential.response[name]) response[name] = encode(credential.response[name]);
    return JSON.stringify({ id: credential.id, rawId: encode(credential.rawId), type: credential.type, response });
  };
  // Messages in the language of the page: for the exceptions of browsers (WebAuthn Level 3 §5.1.3), such as
  // `data-not-allowed-error`, and for the problems of the server, such as `data-too-many-requests`.
  const messageOf = (error) => {
    const name = error instanceof ServerProblem ? error.message : error.name || "";
    const key = name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase()).replace(/^\w/, (c) => c.toLowerCase());
    return form.dataset[key] || form.dataset.other;
  };
  class ServerProblem extends Error {}
  const usePasskey = async (how) => {
    const request = { method: "POST", body: new URLSearchParams(new FormData(form)) };
    const response = await fetch(form.dataset.options, request);
    const body = await response.json();
    if (!response.ok) throw new ServerProblem(body.code);
    const publicKey = decodeOptions(body.options);
    const credential = await (publicKey.user
      ? navigator.credentials.create({ publicKey })
      : navigator.credentials.get({ publicKey, ...how }));
    form.elements.challengeId.value = body.challengeId;
    form.elements.credential.value = encodeCredential(credential);
    form.submit();
  };
  // Autofill: the browser offers passkeys in the field of the address (WebAuthn Level 3 §5.1.4). The challenge expires,
  // so a new one is fetched before that.
  const RENEW_MILLISECONDS = 240_000;
  const RENEWALS = 15;
  let autofill;
  const offerAutofill = async (renewals) => {
    if (!form.dataset.autofill || !(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
    autofill = new AbortController();
    const { signal } = autofill;
    setTimeout(() => {
      if (signal.aborted || renewals === 0) return;
      autofill.abort();
      void offerAutofill(renewals - 1);
    }, RENEW_MILLISECONDS);
    // Who ignores it signs in in another way and needs no message.
    await usePasskey({ mediation: "conditional", signal }).catch(() => {});
  };
  void offerAutofill(RENEWALS);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    autofill?.abort(); // Browsers refuse a second request.
    autofill = undefined;
    button.disabled = true;
    status.textContent = form.dataset.busy;
    usePasskey().catch((error) => {
      button.disabled = false;
      status.textContent = messageOf(error);
      void offerAutofill(RENEWALS);
    });
  });
  document.getElementById("passkeys").hidden = false;
})();
