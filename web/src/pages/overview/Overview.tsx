import "./overview.css";
export function Overview() {
  return <main id="main" className="page overview" />;
}
