/** One script contains the parts of the sign-in that most visits do not need. */
export { finishSignIn, Issuers } from './issuers.tsx'
export { LinkDialog } from './link-dialog.tsx'
