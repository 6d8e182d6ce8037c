import "./emails.css";
export function Log() {
  return <main id="main" className="page emails" data-panel="closed" />;
}
