// Passkeys on the hosted pages: shows what needs this script, asks the browser, and submits its answer as a form.
"use strict";
(() => {
  const form = document.getElementById("passkey");
  if (!form || !window.PublicKeyCredential) return;
  const status = document.getElementById("passkey-status");
  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const text = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
  const read = (options) => {
    options.challenge = bytes(options.challenge);
    if (options.user) options.user.id = bytes(options.user.id);
    for (const each of [...(options.excludeCredentials || []), ...(options.allowCredentials || [])])
      each.id = bytes(each.id);
    return options;
  };
  const written = (made) => {
    const response = {};
    for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"])
      if (made.response[name]) response[name] = text(made.response[name]);
    return JSON.stringify({ id: made.id, rawId: text(made.rawId), type: made.type, response });
  };
  // What browsers throw (WebAuthn Level 3 §5.1.3), in words.
  const told = {
    NotAllowedError: "That was cancelled, or there is no passkey here.",
    InvalidStateError: "This device has a passkey for your account already. You can use that one.",
    NotSupportedError: "This device cannot keep a passkey of the kind that is needed here.",
    SecurityError: "Passkeys cannot be used on this page.",
    other: "That did not work. Try again, or go on without a passkey.",
  };
  class Refusal extends Error {}
  const ask = async () => {
    const answer = await fetch(form.dataset.options, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    const said = await answer.json();
    if (!answer.ok) throw new Refusal(said.detail);
    const publicKey = read(said.options);
    const made = await (publicKey.user
      ? navigator.credentials.create({ publicKey })
      : navigator.credentials.get({ publicKey }));
    form.elements.challengeId.value = said.challengeId;
    form.elements.credential.value = written(made);
    form.submit();
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    status.textContent = "Follow your browser…";
    ask().catch((error) => {
      button.disabled = false;
      status.textContent = told[error.name] || (error instanceof Refusal ? error.message : told.other);
    });
  });
  document.getElementById("passkeys").hidden = false;
})();
