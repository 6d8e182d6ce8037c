// Compiled with tsc --strict: the components and their properties.
import {
  type CustomerState,
  ImpersonationBanner,
  OrganizationSwitcher,
  PosternProvider,
  type SessionDocument,
  SignedIn,
  SignedOut,
  SignInButton,
  SignOutButton,
  SignUpButton,
  useCustomer,
  UserButton,
} from "@postern/react";
import type { SessionDocument as ServerDocument } from "@postern/sdk/sign-in";
import type { ReactNode } from "react";

export function App({ session }: { session: ServerDocument }): ReactNode {
  const initialSession: SessionDocument = session;
  return (
    <PosternProvider
      authPath="/auth"
      theme="dark"
      initialSession={initialSession}
      nonce="abc"
      onSwitch={(organization) => console.log(organization?.entitlementsVersion)}
    >
      <ImpersonationBanner endLabel={<b>Stop</b>} signOutReturnTo="/team">
        {(customer, actor) => `${actor} helps ${customer.name}`}
      </ImpersonationBanner>
      <SignedIn>
        <OrganizationSwitcher personal={null} links={[{ label: "New", href: "/new" }]} />
        <UserButton links={[{ label: "Settings", href: "/settings" }]} signOutReturnTo="/bye" />
        <SignOutButton returnTo="/bye" disabled>
          Leave
        </SignOutButton>
      </SignedIn>
      <SignedOut>
        <SignInButton returnTo="/reports" className="mine" onClick={(event) => event.stopPropagation()}>
          <b>Sign in</b>
        </SignInButton>
        <SignUpButton />
      </SignedOut>
      <Facts />
    </PosternProvider>
  );
}

function Facts(): ReactNode {
  const { isLoaded, customer, organization, has, switchOrganization }: CustomerState = useCustomer();
  if (!isLoaded || !customer) return null;
  return (
    <button type="button" onClick={() => void switchOrganization(null)} disabled={!has("reports:read")}>
      {customer.name} {organization?.name}
    </button>
  );
}
