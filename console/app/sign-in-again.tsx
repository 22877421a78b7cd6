import { Button } from '../parts/button.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { setter } from '../parts/setter.ts'
import { isHeld } from '../route/routes.ts'
import { texts } from '../texts/texts.ts'
import { SignInForm, type SignInProps, signOut } from './sign-in.tsx'

/**
 * Covers an open page whose token has expired. The page stays as it is. The user can close the dialog, for example to
 * copy a text before a sign-in at another page. The next refused call opens the dialog again.
 */
export const SignInAgain = ({ session }: SignInProps) => (
  <Dialog title={texts.value.signIn.title} onClose={setter(session.isExpired, false)}>
    <div class="dialog-body">
      <p>{texts.value.signIn.expired}</p>
      <SignInForm session={session} />
      {!isHeld.value && (
        <Button kind="quiet" icon="signOut" onClick={() => signOut(session)}>
          {texts.value.signIn.signOut}
        </Button>
      )}
    </div>
  </Dialog>
)
