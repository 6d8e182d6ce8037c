import { Menu } from "@mantine/core";
import {
  type Icon,
  IconArrowBarToLeft,
  IconArrowBarToRight,
  IconArrowDown,
  IconArrowUp,
  IconClock,
  IconCopyPlus,
  IconDoorExit,
  IconGitBranch,
  IconHourglass,
  IconMail,
  IconPlus,
  IconTrash,
  IconUserEdit,
  IconUserMinus,
  IconUserPlus,
  IconWebhook,
} from "@tabler/icons-react";
import type { KeyboardEvent, ReactNode } from "react";
import { m } from "../../messages/messages.js";
import { Button, ICON } from "../../parts/parts";
import {
  BRANCHES,
  type Branch,
  type EditedStep,
  isBranching,
  type Move,
  moved,
  STEP_TYPES,
  type StepType,
} from "./steps";
import { branchWords, type Names, STEP_NAMES, stepWords } from "./words";

const ICONS: Record<StepType, Icon> = {
  SEND_EMAIL: IconMail,
  DELAY: IconClock,
  CONDITION: IconGitBranch,
  WAIT_FOR_EVENT: IconHourglass,
  UPDATE_CONTACT: IconUserEdit,
  ADD_TO_AUDIENCE: IconUserPlus,
  REMOVE_FROM_AUDIENCE: IconUserMinus,
  WEBHOOK: IconWebhook,
  EXIT: IconDoorExit,
};

export function StepIcon({ type }: { type: string }) {
  const Shown = ICONS[type as StepType] ?? IconClock;
  return <Shown {...ICON} />;
}

/** What can be done with the steps of a list. */
export interface Editing {
  /** All steps, to know which moves are possible. */
  steps: EditedStep[];
  openId: string | undefined;
  /** Steps that something is wrong with or missing in, with what. */
  faults: ReadonlyMap<string, string[]>;
  isFull: boolean;
  open: (id: string | undefined) => void;
  add: (type: StepType, parent: string | undefined, branch: Branch | undefined) => void;
  move: (id: string, move: Move) => void;
  duplicate: (id: string) => void;
  remove: (id: string) => void;
  form: (step: EditedStep) => ReactNode;
}

/** Steps as an indented list, to read or to edit. */
export function StepList({
  steps,
  names,
  parent,
  branch,
  editing,
  note,
}: {
  steps: EditedStep[];
  names: Names;
  parent?: EditedStep;
  branch?: Branch;
  editing?: Editing;
  /** What stands behind the sentence of a step. */
  note?: (step: EditedStep) => ReactNode;
}) {
  return (
    <>
      <ol className={parent ? "steps inner" : "steps"}>
        {steps.map((step) => (
          <li key={step.id}>
            <Row step={step} names={names} editing={editing} note={note} />
            {isBranching(step) &&
              BRANCHES.map((each) => (
                <div className="branch" key={each}>
                  <p className="branchname">{branchWords(step, each)}</p>
                  {step[each].length === 0 && !editing && <p className="muted goeson">{m.automations_goes_on()}</p>}
                  <StepList
                    steps={step[each]}
                    names={names}
                    parent={step}
                    branch={each}
                    editing={editing}
                    note={note}
                  />
                </div>
              ))}
          </li>
        ))}
      </ol>
      {editing && <AddStep editing={editing} parent={parent} branch={branch} />}
    </>
  );
}

function Row({
  step,
  names,
  editing,
  note,
}: {
  step: EditedStep;
  names: Names;
  editing: Editing | undefined;
  note: ((step: EditedStep) => ReactNode) | undefined;
}) {
  const words = stepWords(step, names);
  if (!editing)
    return (
      <div className="step">
        <StepIcon type={step.type} />
        <span className="says">{words}</span>
        {note?.(step)}
      </div>
    );
  const isOpen = editing.openId === step.id;
  const faults = editing.faults.get(step.id) ?? [];
  const pressed = (event: KeyboardEvent) => {
    const move = ({ ArrowUp: "up", ArrowDown: "down", ArrowRight: "in", ArrowLeft: "out" } as const)[event.key];
    if (event.altKey && move) {
      event.preventDefault();
      editing.move(step.id, move);
    } else if (event.key === "Delete" && event.target === event.currentTarget) editing.remove(step.id);
  };
  const act = (label: string, Shown: Icon, run: () => void, disabled = false, keys = "") => (
    <button
      type="button"
      className="iconbtn small"
      aria-label={`${label}: ${words}`}
      title={keys ? `${label} (${keys})` : label}
      disabled={disabled}
      onClick={run}
    >
      <Shown {...ICON} />
    </button>
  );
  const cannot = (move: Move) => moved(editing.steps, step.id, move) === editing.steps;
  const go = (move: Move) => () => editing.move(step.id, move);
  return (
    <div className={`step edited ${isOpen ? "on" : ""} ${faults.length ? "faulty" : ""}`}>
      <div className="steprow">
        <button
          type="button"
          className="stepbtn"
          data-step={step.id}
          aria-expanded={isOpen}
          onClick={() => editing.open(isOpen ? undefined : step.id)}
          onKeyDown={pressed}
        >
          <StepIcon type={step.type} />
          <span className="says">{words}</span>
        </button>
        <div className="stepacts">
          {act(m.automations_up(), IconArrowUp, go("up"), cannot("up"), "Alt ↑")}
          {act(m.automations_down(), IconArrowDown, go("down"), cannot("down"), "Alt ↓")}
          {act(m.automations_in(), IconArrowBarToRight, go("in"), cannot("in"), "Alt →")}
          {act(m.automations_out(), IconArrowBarToLeft, go("out"), cannot("out"), "Alt ←")}
          {act(m.automations_duplicate_step(), IconCopyPlus, () => editing.duplicate(step.id), editing.isFull)}
          {act(m.automations_delete_step(), IconTrash, () => editing.remove(step.id))}
        </div>
      </div>
      {faults.length > 0 && !isOpen && <p className="stepfault">{faults.join(" ")}</p>}
      {isOpen && <div className="stepform">{editing.form(step)}</div>}
    </div>
  );
}

function AddStep({
  editing,
  parent,
  branch,
}: {
  editing: Editing;
  parent: EditedStep | undefined;
  branch: Branch | undefined;
}) {
  const label =
    parent && branch ? m.automations_add_to({ branch: branchWords(parent, branch) }) : m.automations_add_step();
  return (
    <div className="addstep">
      <Menu position="bottom-start" width={280} portalProps={{ target: "#menus" }} withInitialFocusPlaceholder={false}>
        <Menu.Target>
          <Button
            size="small"
            kind={parent ? "bare" : ""}
            icon={<IconPlus {...ICON} />}
            disabled={editing.isFull}
            aria-label={label}
          >
            {m.automations_add_step()}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {STEP_TYPES.map((type) => (
            <Menu.Item
              key={type}
              leftSection={<StepIcon type={type} />}
              onClick={() => editing.add(type, parent?.id, branch)}
            >
              {STEP_NAMES[type]()}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}
