/** Parts that most visits do not need, in one script. */
export { LinkDialog } from './link-dialog.tsx'
export { SignInAgain } from './sign-in-again.tsx'
