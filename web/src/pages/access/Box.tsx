/** A choice of several, with what it means or its name in the protocol. */
export function Box({
  label,
  hint = "",
  code = "",
  checked,
  disabled = false,
  onChange,
}: {
  label: string;
  hint?: string;
  code?: string;
  checked: boolean;
  disabled?: boolean;
  onChange: () => void;
}) {
  return (
    <label className="choice">
      <input type="checkbox" className="check" checked={checked} disabled={disabled} onChange={onChange} />
      <span>
        {label} {code && <code className="muted">{code}</code>}
        {hint && <small className="muted">{hint}</small>}
      </span>
    </label>
  );
}
