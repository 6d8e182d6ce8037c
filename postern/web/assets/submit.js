// Submits the only form of the page. Without JavaScript, the visitor presses its button.
document.forms[0].submit();
