const paths = {
  folder:
    'M2.5 5.5a1.5 1.5 0 0 1 1.5-1.5h3.4l2 2.2H16a1.5 1.5 0 0 1 1.5 1.5V14a1.5 1.5 0 0 1-1.5 1.5H4A1.5 1.5 0 0 1 2.5 ' +
    '14z',
  file: 'M5 2.5h6.5L15.5 6.5V16a1.5 1.5 0 0 1-1.5 1.5H6A1.5 1.5 0 0 1 4.5 16V4A1.5 1.5 0 0 1 6 2.5M11.5 2.5v4h4',
  picture: 'M3.5 3.5h13v13h-13zM3.5 13l3.5-3.5 3.5 3.5 2.5-2.5 3.5 3.5M12.5 7.5h.01',
  page: 'M5.5 2.5h9v15h-9zM8 6.5h4M8 9.5h4M8 12.5h2.5',
  upload: 'M10 13V3.5M6 7l4-4 4 4M3.5 12.5V15A1.5 1.5 0 0 0 5 16.5h10a1.5 1.5 0 0 0 1.5-1.5v-2.5',
  download: 'M10 3.5V13M6 9.5l4 4 4-4M3.5 13v2A1.5 1.5 0 0 0 5 16.5h10a1.5 1.5 0 0 0 1.5-1.5v-2',
  more: 'M4.5 10h.01M10 10h.01M15.5 10h.01',
  close: 'M5 5l10 10M15 5L5 15',
  search: 'M8.5 14a5.5 5.5 0 1 0 0-11 5.5 5.5 0 0 0 0 11zM12.5 12.5L17 17',
  right: 'M7.5 4.5L13 10l-5.5 5.5',
  down: 'M4.5 7.5L10 13l5.5-5.5',
  up: 'M4.5 12.5L10 7l5.5 5.5',
  check: 'M4 10.5l4 4 8-9',
  remove: 'M3.5 5.5h13M8 5.5v-2h4v2M5.5 5.5l.7 11h7.6l.7-11M8.5 8.5v5M11.5 8.5v5',
  copy: 'M7 7h9.5v9.5H7zM13 7V3.5H3.5V13H7',
  move: 'M3 10h13M11.5 5.5L16 10l-4.5 4.5',
  rename: 'M4 16l.7-3.3L13.5 4l2.5 2.5-8.7 8.7zM11.5 6l2.5 2.5',
  restore: 'M4 4.5v4h4M4.3 8.3A6.5 6.5 0 1 1 3.5 11',
  refresh: 'M16 4.5v4h-4M15.7 8.3A6.5 6.5 0 1 0 16.5 11',
  warning: 'M10 3L18 16.5H2zM10 8v4M10 14.5h.01',
  pause: 'M7 4.5v11M13 4.5v11',
  play: 'M6.5 4l9 6-9 6z',
  plus: 'M10 4v12M4 10h12',
  tiles: 'M3.5 3.5h5v5h-5zM11.5 3.5h5v5h-5zM3.5 11.5h5v5h-5zM11.5 11.5h5v5h-5z',
  lines: 'M3.5 5.5h13M3.5 10h13M3.5 14.5h13',
  settings: 'M3 6h7M14 6h3M3 14h3M10 14h7M12 4v4M8 12v4',
  link: 'M8.5 11.5l3-3M9.5 6.5l2-2a2.8 2.8 0 0 1 4 4l-2 2M10.5 13.5l-2 2a2.8 2.8 0 0 1-4-4l2-2',
  left: 'M12.5 4.5L7 10l5.5 5.5',
  grip: 'M7.5 5h.01M7.5 10h.01M7.5 15h.01M12.5 5h.01M12.5 10h.01M12.5 15h.01',
  form: 'M3.5 3.5h13v13h-13zM6.5 7h7M6.5 10h7M6.5 13h4',
  category: 'M3.5 3.5h6l7 7-6 6-7-7zM6.8 6.8h.01',
  history: 'M10 5.5V10l3 2M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14z',
  person: 'M10 10a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4zM3.8 17a6.2 6.2 0 0 1 12.4 0',
  signOut: 'M8 3.5H4.5v13H8M12 6l4 4-4 4M16 10H8',
} as const

export type IconName = keyof typeof paths

/** An icon is only decoration: the text or the label beside it gives the meaning. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class={`icon icon-${name}`} viewBox="0 0 20 20" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
)
