import type { Texts } from './en.ts'

const plural = (count: number, one: string, many: string): string =>
  `${count.toLocaleString('de')} ${count === 1 ? one : many}`

/** Everything that the console says, in German. */
export const de: Texts = {
  name: 'Website-Verwaltung',
  cancel: 'Abbrechen',
  close: 'Schließen',
  repeat: 'Erneut versuchen',
  undo: 'Rückgängig',
  loading: 'Wird geladen …',
  more: 'Weitere Aktionen',
  unexpected: 'In dieser Seite ist etwas schiefgegangen. Laden Sie sie neu.',
  signIn: {
    title: 'Anmelden',
    token: 'Zugriffstoken',
    hint: 'Token stellt aus, wer den Dienst betreibt: npm run admin -- token issue',
    keep: 'Auf diesem Gerät angemeldet bleiben',
    keepHint: 'Sonst wird das Token vergessen, sobald dieser Tab geschlossen wird.',
    submit: 'Anmelden',
    expired: 'Ihr Token gilt nicht mehr. Melden Sie sich erneut an, um fortzufahren: Hier geht nichts verloren.',
    noSites: 'Dieses Token gilt für keine Website. Melden Sie sich mit einem anderen an.',
    signOut: 'Abmelden',
  },
  shell: {
    views: 'Ansichten',
    skip: 'Zum Inhalt springen',
    site: 'Website',
    settings: 'Einstellungen',
    language: 'Sprache',
    theme: 'Darstellung',
    themes: { auto: 'Wie das System', light: 'Hell', dark: 'Dunkel' },
    reference: 'API-Referenz',
    offline: 'Keine Verbindung zum Dienst. Neuer Versuch läuft …',
  },
  nav: {
    files: 'Dateien',
  },
  progress: {
    left: (time) => `noch ${time}`,
    rate: (size) => `${size}/s`,
  },
  notices: 'Hinweise',
  items: (count) => plural(count, 'Element', 'Elemente'),
}
