// The API reference at /docs.
fetch("/openapi.json").then((response) => response.json()).then((spec) => SwaggerUIBundle({
  spec, dom_id: "#docs", deepLinking: true, docExpansion: "none", filter: true,
  persistAuthorization: true, displayRequestDuration: true, validatorUrl: null
}));
