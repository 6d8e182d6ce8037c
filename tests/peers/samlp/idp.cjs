// An identity provider based on Auth0's samlp: node idp.cjs '{"issuer": …}' serves /login and /logout.
// It verifies the signature of every request with `spCert`, and prints its port when it is ready.
"use strict";
const http = require("http");
const samlp = require("samlp");

const settings = JSON.parse(process.argv[2]);
const session = {};

const user = {
  id: "maria@acme.example",
  emails: [{ value: "maria@acme.example" }],
  displayName: "Maria & Söhne",
  name: { givenName: "Maria", familyName: "Kovač" },
};

function mapper(profile) {
  return {
    getClaims: () => ({ email: profile.emails[0].value, name: profile.displayName, groups: ["staff", "admins"] }),
    getNameIdentifier: () => ({
      nameIdentifier: profile.id,
      nameIdentifierFormat: "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
    }),
  };
}

const login = samlp.auth({
  issuer: settings.issuer,
  cert: settings.cert,
  key: settings.key,
  signingCert: settings.spCert,
  signAssertion: settings.signAssertion,
  signResponse: settings.signResponse,
  encryptionCert: settings.encryptionCert,
  encryptionPublicKey: settings.encryptionPublicKey,
  signatureNamespacePrefix: settings.prefix,
  sessionIndex: "session-1",
  recipient: settings.acsUrl,
  destination: settings.acsUrl,
  profileMapper: mapper,
  getUserFromRequest: () => user,
  getPostURL: (audience, request, req, done) => done(null, settings.acsUrl),
});

function participants() {
  return [
    {
      serviceProviderId: settings.spEntityId,
      sessionIndex: "session-1",
      nameId: user.id,
      nameIdFormat: "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
      serviceProviderLogoutURL: settings.sloUrl,
      cert: settings.spCert,
    },
  ];
}

function logout(req, res, next) {
  const Participants = require("samlp/lib/sessionParticipants");
  samlp.logout({
    issuer: settings.issuer,
    cert: settings.cert,
    key: settings.key,
    deflate: true,
    protocolBinding: settings.logoutBinding,
    reference: "//*[local-name(.)='LogoutRequest' and namespace-uri(.)='urn:oasis:names:tc:SAML:2.0:protocol']",
    signatureAlgorithm: "rsa-sha256",
    digestAlgorithm: "sha256",
    sessionParticipants: new Participants(participants()),
  })(req, res, next);
}

http
  .createServer((req, raw) => {
    const url = new URL(req.url, "http://127.0.0.1");
    req.query = Object.fromEntries(url.searchParams);
    req.originalUrl = req.url;
    req.body = {};
    req.session = session;
    const res = {
      set: (name, value) => raw.setHeader(name, value),
      send: (body, more) => {
        raw.statusCode = typeof body === "number" ? body : 200;
        raw.end(typeof body === "number" ? String(more ?? "") : body);
      },
      redirect: (location) => raw.writeHead(302, { Location: location }).end(),
    };
    const next = (error) => raw.writeHead(400).end(String(error?.stack ?? error));
    const page = { "/login": login, "/logout": logout }[url.pathname];
    page ? page(req, res, next) : raw.writeHead(404).end();
  })
  .listen(0, "127.0.0.1", function () {
    console.log(this.address().port);
  });
