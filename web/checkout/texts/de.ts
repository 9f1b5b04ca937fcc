import type { Texts } from './en';

/** German. */
export const de: Texts = {
  language: 'de',
  locale: 'de',
  direction: 'ltr',
  name: 'Deutsch',
  languages: 'Sprache',
  titles: {
    AWAITING_CURRENCY: 'Wählen Sie, wie Sie zahlen',
    WAITING: 'Wir warten auf Ihre Zahlung',
    PARTIALLY_PAID: 'Ein Teil des Betrags ist eingegangen',
    CROSS_CHAIN_PENDING: 'Eine andere Währung ist eingegangen',
    CONFIRMING: 'Zahlung eingegangen, wird bestätigt',
    CONFIRMED: 'Zahlung bestätigt',
    SWEEP_QUEUED: 'Zahlung bestätigt',
    SETTLED: 'Zahlung abgeschlossen',
    EXPIRED: 'Diese Rechnung ist abgelaufen',
    CANCELLED: 'Diese Rechnung wurde storniert',
    FAILED: 'Diese Zahlung wurde nicht abgeschlossen',
  },
  seen: {
    title: 'Wir haben Ihre Zahlung gesehen',
    otherTitle: 'Eine andere Währung ist unterwegs',
    whole: 'Sie müssen jetzt nichts tun, bitte zahlen Sie nicht noch einmal. Sie können diese Seite schließen.',
    part: 'Das ist weniger als der Preis. Sobald es gezählt ist, steht hier, wie viel fehlt. Bitte warten Sie.',
    other:
      'Für diese Rechnung wird {asset} verlangt. Was Sie gesendet haben, ist nicht verloren: Sobald das ' +
      'Netzwerk es bestätigt hat, steht hier, wie es weitergeht. Bitte zahlen Sie nicht noch einmal.',
    sum: 'Im Netzwerk gesehen',
  },
  over: { title: 'Die Zeit zum Zahlen ist vorbei' },
  choose: 'Der Preis gilt ab Ihrer Wahl. Bis Sie gezahlt haben, können Sie sich umentscheiden.',
  unavailable: {
    BELOW_MINIMUM: 'Der Betrag liegt unter dem Minimum dieses Netzwerks',
    TEMPORARILY_UNAVAILABLE: 'Zurzeit nicht verfügbar',
    NOT_AVAILABLE: 'Für diese Rechnung nicht verfügbar',
    NETWORK_OFF: 'Dieses Netzwerk ist zurzeit nicht in Betrieb',
  },
  about: 'kommt in etwa {time} an',
  underMinute: 'kommt in unter einer Minute an',
  onNetwork: 'über {network}',
  fee: 'Gebühr etwa {fee}',
  feeFrom: 'Gebühr ab {fee}',
  feeUnder: 'Gebühr unter {fee}',
  feeNote:
    'Die Gebühr nimmt das Netzwerk zusätzlich zum Betrag von Ihrer Wallet. Sie ändert sich mit dem Verkehr dort.',
  lowestFee: 'Niedrigste Gebühr',
  networksOf: 'Netzwerke für {coin}',
  slowNetwork: 'Zahlungen in diesem Netzwerk werden zurzeit verspätet bemerkt',
  send: 'Senden Sie genau {amount} {asset}',
  sendRest: 'Senden Sie die restlichen {amount} {asset}',
  onlySend:
    'Senden Sie an diese Adresse nur {asset} im Netzwerk {network}. Alles andere kann verloren gehen oder ' +
    'sich verzögern.',
  address: 'Adresse',
  network: 'Netzwerk',
  copy: 'Kopieren',
  copied: 'Kopiert',
  copyAmount: 'Betrag kopieren',
  copyAddress: 'Adresse kopieren',
  tag: 'Destination-Tag',
  copyTag: 'Destination-Tag kopieren',
  needsTag: 'Geben Sie auch diesen Tag an. Ohne ihn wird Ihre Zahlung nicht gefunden.',
  ownTag: 'Ihr Destination-Tag im Netzwerk {network}',
  lightning: {
    invoice: 'Lightning-Rechnung',
    copy: 'Rechnung kopieren',
    only:
      'Bezahlen Sie diese Rechnung einmal und ganz, mit einer Wallet, die über Lightning zahlt. Anderes erreicht ' +
      'sie nicht.',
    either:
      'Zahlen Sie an die Adresse oder über Lightning die Rechnung: eines von beiden, einmal. Der Code hat beides.',
    qr: 'QR-Code mit der Lightning-Rechnung',
    making: 'Ihre Lightning-Rechnung wird erstellt. Sie erscheint hier von selbst; sonst wählen Sie einen anderen Weg.',
    hash: 'Zahlungs-Hash',
    over:
      'Die Lightning-Rechnung kann nicht mehr bezahlt werden: Was eine Wallet dafür sendet, kommt von selbst ' +
      'zurück.',
  },
  openWallet: 'In der Wallet öffnen',
  showCode: 'QR-Code anzeigen',
  bareCode: 'QR-Code nur mit der Adresse',
  bareWhy:
    'Für Wallets und Börsen, die den Code mit dem Betrag nicht lesen: Geben Sie den Betrag selbst ein, ganz ' +
    'genau.',
  wallet: {
    pay: 'Mit {wallet} zahlen',
    sent:
      'Aus Ihrer Wallet gesendet. Diese Seite zeigt es, sobald das Netzwerk es zeigt; bitte zahlen Sie nicht ' +
      'noch einmal.',
    failed: 'Die Wallet hat die Zahlung nicht gesendet.',
  },
  qr: 'QR-Code mit Adresse und Betrag in {asset}',
  rate: 'Kurs',
  clock: {
    price: 'Dieser Preis gilt noch {left}, bis {end}. Danach zeigt diese Seite einen neuen.',
    last: 'Zeit zum Zahlen: {left}, bis {end}.',
  },
  quoteOver: 'Der Preis gilt nicht mehr. Rufen Sie vor dem Zahlen den aktuellen ab.',
  tooLate:
    'Der Preis gilt nicht mehr, und die Zeit zum Zahlen ist vorbei. Wenn Sie gezahlt haben, ist ' +
    'nichts ' +
    'verloren.',
  refresh: 'Aktuellen Preis abrufen',
  change: 'Mit einer anderen Währung zahlen',
  cancel: 'Diese Rechnung stornieren',
  cancelTitle: 'Diese Rechnung stornieren?',
  cancelSure:
    'Stornieren Sie nicht, wenn Sie schon Geld gesendet haben: Es käme als eigene Zahlung an, und Sie ' +
    'bräuchten die Hilfe des Händlers.',
  cancelYes: 'Ja, stornieren',
  cancelNo: 'Nein, zurück',
  received: 'Eingegangen',
  remaining: 'Fehlt noch',
  price: 'Preis',
  confirmations: '{now} von {needed} Bestätigungen',
  mayClose: 'Sie können diese Seite schließen: Ihre Zahlung läuft auch ohne sie weiter.',
  done: 'Sie können diese Seite als Beleg behalten.',
  back: 'Zurück zu {merchant}',
  print: 'Beleg drucken',
  receipt: 'Beleg',
  invoice: 'Rechnung',
  merchant: 'Händler',
  order: 'Bestellung',
  description: 'Wofür',
  contact: 'Kontakt',
  terms: 'Geschäftsbedingungen',
  paidOn: 'Bezahlt am',
  refunded: 'Erstattet',
  pdf: 'Beleg als PDF',
  transaction: 'Transaktion',
  networkDelayed:
    'Wir sehen zurzeit keine neuen Transaktionen im Netzwerk {network}. Wenn Sie gezahlt haben, ist nichts ' +
    'verloren: Diese Rechnung läuft bis dahin nicht ab. Wenn nicht, warten Sie bitte ein wenig.',
  lateMoney:
    'Geld, das jetzt noch eingeht, ist nicht verloren: Es wird als eigene Zahlung erfasst, und der Händler ' +
    'kann es sehen und erstatten. Bitte senden Sie nichts mehr; wenn Sie es schon getan haben, wenden Sie ' +
    'sich an den Händler.',
  exceptions: {
    underpaid:
      'Bis zum Ablauf der Rechnung ist weniger als der volle Betrag eingegangen. Wenden Sie sich an den ' +
      'Händler: Was Sie gesendet haben, wird für Sie verwahrt.',
    overpaid: 'Sie haben mehr gesendet als verlangt. Der Händler sieht es und kann die Differenz erstatten.',
    paidLate:
      'Nach dem Ablauf dieser Rechnung ist Geld eingegangen. Es wurde als eigene Zahlung erfasst; wenden Sie ' +
      'sich an den Händler.',
    wrongCurrency: 'Eine andere als die gewählte Währung ist eingegangen. Wenden Sie sich an den Händler.',
    reorged:
      'Das Netzwerk hat eine Transaktion vorübergehend zurückgenommen. Nichts ist verloren: Die Seite folgt ' +
      'dem Netzwerk.',
  },
  accepted: {
    underpaid: 'Es ist weniger als der volle Betrag eingegangen; er wurde als vollständige Zahlung angenommen.',
    wrongCurrency: 'Eine andere als die gewählte Währung ist eingegangen; sie wurde als Zahlung angenommen.',
  },
  other: {
    title: 'In einer anderen Währung eingegangen',
    asked:
      'Sie haben {received} gesendet. Für diese Rechnung werden {amount} {asset} im Netzwerk {network} ' +
      '' +
      'verlangt.',
    notLost:
      'Was Sie gesendet haben, ist nicht verloren. Bitte zahlen Sie nicht noch einmal; Sie müssen jetzt ' +
      'nichts tun.',
    acceptedAt:
      'Es wird am {time} als Ihre Zahlung angenommen, oder früher, wenn der Händler es annimmt; er kann es ' +
      'noch ablehnen.',
    decidedBy:
      'Der Händler entscheidet bis {time}, ob er es als Ihre Zahlung annimmt. Ohne Antwort endet diese ' +
      'Zahlung dann, und der Händler kann es Ihnen zurücksenden.',
    held:
      'Es wird verwahrt, und der Händler kann es Ihnen zurücksenden. Wenden Sie sich an den Händler und ' +
      'nennen Sie diese Transaktion.',
  },
  payer: {
    ask: 'Wohin soll Geld zurückgehen, falls etwas schiefgeht?',
    address: 'Ihre {asset}-Adresse im Netzwerk {network} (freiwillig)',
    why:
      'Eine Erstattung geht an diese Adresse, ohne sie an diesen Browser. Nehmen Sie eine eigene Adresse im ' +
      'Netzwerk {network}, nie die einer Börse. Sie lässt sich hier ändern, bis Ihre Zahlung gesehen wurde, ' +
      'danach nicht mehr.',
    save: 'Speichern',
    goesTo: 'Eine Erstattung ginge an',
    yours: 'Ist das nicht Ihre Adresse? Dann zahlen Sie nicht und wenden Sie sich an den Händler.',
    locked: 'Ihre Zahlung wurde gesehen: Das lässt sich hier nicht mehr ändern.',
    contested:
      'Mehr als ein Browser gibt an, der des Zahlers zu sein. Der Händler entscheidet, wohin Geld ' + 'zurückginge.',
    name: 'Adresse für Ihre Erstattung nennen',
  },
  mail: {
    ask: 'Beleg per E-Mail erhalten',
    address: 'Ihre E-Mail-Adresse',
    why:
      'Wir schreiben einmal dorthin, wenn Ihre Zahlung bestätigt ist. Niemand sonst sieht die Adresse, ' +
      'auch der Händler nicht.',
    send: 'Beleg zusenden',
    kept: 'Der Beleg geht an die angegebene Adresse, sobald Ihre Zahlung bestätigt ist.',
    refused:
      'An diese Adresse kann der Beleg nicht gesendet werden. Prüfen Sie sie, oder drucken Sie den ' +
      'Beleg von dieser Seite.',
  },
  claim: {
    comesBack:
      'Bis zum Ablauf der Rechnung ist weniger als der volle Betrag eingegangen. Was Sie gesendet haben, geht ' +
      'an Sie zurück.',
    note:
      'Bis zum Ablauf der Rechnung ist weniger als der volle Betrag eingegangen. Was Sie gesendet haben, geht ' +
      'an Sie zurück. Der Händler sendet Ihnen einen Link, unter dem Sie die Adresse dafür nennen.',
    titles: {
      awaiting_address: 'Wohin sollen wir Ihre Erstattung senden?',
      awaiting_approval: 'Wir warten auf die Freigabe des Händlers',
      pending: 'Ihre Erstattung wird vorbereitet',
      processing: 'Ihre Erstattung wird vorbereitet',
      broadcast: 'Ihre Erstattung ist unterwegs',
      completed: 'Ihre Erstattung ist angekommen',
      failed: 'Ihre Erstattung konnte nicht gesendet werden',
      cancelled: 'Diese Erstattung wurde storniert',
    },
    texts: {
      awaiting_address: 'Der Händler sendet Ihnen einen Link, unter dem Sie die Adresse dafür nennen.',
      awaiting_approval:
        'Wir haben Ihre Adresse. Wir senden das Geld, sobald der Händler die Erstattung freigegeben hat.',
      pending: 'Wir haben Ihre Adresse. Wir senden das Geld in Kürze; Sie können diese Seite schließen.',
      processing: 'Wir haben Ihre Adresse. Wir senden das Geld in Kürze; Sie können diese Seite schließen.',
      broadcast: 'Das Netzwerk bestätigt sie gerade; Sie können diese Seite schließen.',
      completed: 'Das Netzwerk hat sie bestätigt.',
      failed:
        'Das Netzwerk hat sie an dieser Adresse nicht angenommen. Wenden Sie sich an den Händler: Das Geld ' +
        'ist nicht verloren.',
      cancelled: 'Wenden Sie sich an den Händler, wenn Sie daraus Geld erwartet haben.',
    },
    amount: 'Erstattung',
    fee: 'Netzwerkgebühr',
    worth: 'Wert',
    gets: 'Sie erhalten',
    ask: 'Geben Sie eine {asset}-Adresse im Netzwerk {network} ein, die Ihnen gehört und kein Smart Contract ist.',
    address: 'Ihre {asset}-Adresse im Netzwerk {network}',
    own:
      'Nehmen Sie eine eigene Wallet, die {asset} im Netzwerk {network} annimmt. Die Adresse, von der Sie ' +
      'gezahlt haben, gehört vielleicht einer Börse und nicht Ihnen; fragen Sie die Börse nach einer ' +
      'Einzahlungsadresse.',
    refused:
      'Diese Adresse kann nicht verwendet werden. Geben Sie eine vollständige Adresse im Netzwerk {network} ' +
      'ein, die Ihnen gehört und kein Smart Contract ist.',
    notNow: 'Das geht gerade nicht. Nichts ist verloren: Versuchen Sie es in einigen Minuten noch einmal.',
    next: 'Weiter',
    sure: 'Ist das Ihre Adresse?',
    final: 'Das lässt sich später weder ändern noch zurücknehmen. Vergleichen Sie die ganze Adresse.',
    yes: 'Ja, dorthin senden',
    no: 'Nein, ändern',
    byLightning: {
      ask:
        'Erstellen Sie in Ihrer Lightning-Wallet eine Rechnung über genau {amount} ({satoshi} Satoshi), ' +
        'so lange gültig, wie Ihre Wallet es zulässt, höchstens eine Woche, und fügen Sie sie hier ein.',
      address: 'Ihre Lightning-Rechnung über {amount}',
      own: 'Nehmen Sie eine eigene Wallet. Das Geld bekommt, wer die Rechnung erstellt hat.',
      refused:
        'Diese Rechnung kann nicht verwendet werden. Sie muss neu sein, über genau {amount} ({satoshi} ' +
        'Satoshi), noch einige Minuten und höchstens eine Woche gültig, und nicht von dort, wo Sie bezahlt haben.',
      sure: 'Ist das Ihre Rechnung?',
      final: 'Das lässt sich später weder ändern noch zurücknehmen. Vergleichen Sie Anfang und Ende der Rechnung.',
      yes: 'Ja, bezahlen',
      fee: 'Lightning-Gebühr',
      texts: {
        awaiting_approval:
          'Wir haben Ihre Rechnung. Wir bezahlen sie, sobald der Händler die Erstattung freigegeben hat; ' +
          'ist sie bis dahin abgelaufen, bitten Sie ihn um einen neuen Link.',
        pending: 'Wir haben Ihre Rechnung. Wir bezahlen sie in Kürze; Sie können diese Seite schließen.',
        processing: 'Wir haben Ihre Rechnung. Wir bezahlen sie in Kürze; Sie können diese Seite schließen.',
        completed: 'Ihre Rechnung ist bezahlt.',
        failed:
          'Ihre Rechnung konnte nicht bezahlt werden: Sie ist abgelaufen, oder es fand sich kein Weg zu ' +
          'Ihrer Wallet. Bitten Sie den Händler um einen neuen Link: Das Geld ist nicht verloren.',
      },
    },
  },
  settlement: {
    titles: {
      awaiting_approval: 'Eine Auszahlungsadresse wartet auf Freigabe',
      cooling_off: 'Eine Auszahlungsadresse wird bald geändert',
      applied: 'Eine Auszahlungsadresse wurde geändert',
      stopped: 'Die Änderung wurde gestoppt',
      replaced: 'Die Änderung wurde durch eine spätere ersetzt',
    },
    effect: {
      awaiting_approval: 'Wenn Sie sie stoppen, gilt sie nie.',
      cooling_off: 'Wenn Sie sie stoppen, gilt sie nie.',
      applied: 'Wenn Sie sie stoppen, gehen neue Zahlungen an die vorherige Adresse. Die bisherigen behalten ihre.',
    },
    asked: '{who} möchte Geld von {merchant} an eine andere Adresse auszahlen lassen.',
    to: 'Die neue Adresse',
    before: 'Die vorherige Adresse',
    from: 'Sie gilt ab {time}.',
    stop: 'Diese Änderung stoppen',
    refused: 'Sie konnte nicht gestoppt werden: Sie ist beendet oder gilt seit mehr als einer Woche.',
  },
  root: {
    title: 'Zahlungsseiten',
    text:
      'Händler nehmen auf diesem Server Zahlungen in Kryptowährung entgegen. Jede Rechnung hat eine eigene ' +
      'Seite: Öffnen Sie den Link, den Ihnen der Händler gegeben hat. Wir fragen nie nach Ihren Schlüsseln, ' +
      'Ihren Wiederherstellungswörtern oder einem Passwort.',
  },
  helpAt: 'Fragen zu Ihrer Bestellung? Wenden Sie sich mit der Rechnungsnummer an {contact}.',
  help: 'Fragen zu Ihrer Bestellung? Wenden Sie sich an den Händler und nennen Sie die Rechnungsnummer.',
  notFound: 'Diese Rechnung gibt es nicht',
  notFoundText: 'Prüfen Sie den Link, oder bitten Sie den Händler um einen neuen.',
  away: 'Der Zahlungsdienst antwortet nicht',
  awayText: 'Nichts, was Sie gesendet haben, ist verloren. Bitte laden Sie diese Seite in einer Minute neu.',
  tooMany: 'Zu viele Anfragen',
  tooManyText:
    'Über Ihre Verbindung kamen in kurzer Zeit zu viele Anfragen. Nichts, was Sie gesendet haben, ist ' +
    'verloren. Bitte versuchen Sie es erneut, Wartezeit: {time}.',
  again: 'Erneut versuchen',
  refused: 'Das war nicht mehr möglich. Die Seite zeigt, wo die Zahlung jetzt steht.',
  testMode: 'Testinstanz: Coins sind hier nichts wert. Senden Sie nie echtes Geld.',
  still: 'Ohne JavaScript ändert sich diese Seite nicht von selbst.',
  reload: 'Neu laden',
};
