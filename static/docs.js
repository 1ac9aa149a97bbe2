// Starts Swagger UI on the page that app/web/docs_page.py writes.
const place = document.getElementById("swagger-ui");

window.SwaggerUIBundle({
  url: place.dataset.openapi,
  domNode: place,
  deepLinking: true,
  displayRequestDuration: true,
  validatorUrl: null, // the default would send the description to a service on the internet
});
