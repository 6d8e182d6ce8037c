import { Notifications } from "@mantine/notifications";

/** Where the notices of the whole dashboard appear. */
export default function Notices() {
  return <Notifications position="bottom-center" autoClose={8000} />;
}
