/** One script contains the view of people and keys, and the dialogs that share its fields and texts. */

export { AcceptInvitation } from './accept-invitation.tsx'
export { AccessView } from './access-view.tsx'
export { AccountDialog } from './account-dialog.tsx'
export { LinkDialog } from './link-dialog.tsx'
