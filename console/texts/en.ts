const plural = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('en')} ${count === 1 ? one : many}`

/** Everything that the console says, in English. A text with a number or a name in it is a function. */
export const en = {
  name: 'Site administration',
  cancel: 'Cancel',
  close: 'Close',
  repeat: 'Try again',
  undo: 'Undo',
  loading: 'Loading…',
  more: 'More actions',
  unexpected: 'Something in this page went wrong. Load it again.',
  signIn: {
    title: 'Sign in',
    token: 'Access token',
    hint: 'Whoever runs the service issues tokens: npm run admin -- token issue',
    keep: 'Stay signed in on this device',
    keepHint: 'Without it, the token is forgotten when this tab is closed.',
    submit: 'Sign in',
    expired: 'Your token does not work any more. Sign in again to go on: nothing here is lost.',
    noSites: 'This token covers no site. Sign in with another one.',
    signOut: 'Sign out',
  },
  shell: {
    views: 'Views',
    skip: 'Skip to the content',
    site: 'Site',
    settings: 'Settings',
    language: 'Language',
    theme: 'Theme',
    themes: { auto: 'As the system', light: 'Light', dark: 'Dark' },
    reference: 'API reference',
    offline: 'No connection to the service. Trying again…',
  },
  nav: {
    files: 'Files',
  },
  progress: {
    left: (time: string) => `${time} left`,
    rate: (size: string) => `${size}/s`,
  },
  notices: 'Notices',
  items: (count: number) => plural(count, 'item', 'items'),
}

export type Texts = typeof en
