/** One script contains all parts that most visits do not need. */
export { AcceptInvitation } from '../access/accept-invitation.tsx'
export { AccountDialog } from '../access/account-dialog.tsx'
export { finishSignIn, Issuers } from './issuers.tsx'
export { LinkDialog } from './link-dialog.tsx'
