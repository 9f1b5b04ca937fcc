import type { Texts } from './en';

/** French. */
export const fr: Texts = {
  language: 'fr',
  locale: 'fr',
  direction: 'ltr',
  name: 'Français',
  languages: 'Langue',
  titles: {
    AWAITING_CURRENCY: 'Choisissez comment payer',
    WAITING: 'Nous attendons votre paiement',
    PARTIALLY_PAID: 'Une partie du montant est arrivée',
    CROSS_CHAIN_PENDING: 'Une autre monnaie est arrivée',
    CONFIRMING: 'Paiement reçu, confirmation en cours',
    CONFIRMED: 'Paiement confirmé',
    SWEEP_QUEUED: 'Paiement confirmé',
    SETTLED: 'Paiement terminé',
    EXPIRED: 'Cette facture a expiré',
    CANCELLED: 'Cette facture a été annulée',
    FAILED: 'Ce paiement n’a pas abouti',
  },
  seen: {
    title: 'Nous avons vu votre paiement',
    otherTitle: 'Une autre monnaie est en route',
    whole: 'Vous n’avez rien à faire ; merci de ne pas payer une seconde fois. Vous pouvez fermer cette page.',
    part: 'C’est moins que le prix. Dès que ce sera compté, cette page dira combien il manque. Veuillez patienter.',
    other:
      'Cette facture demande {asset}. Ce que vous avez envoyé n’est pas perdu : une fois le réseau l’ayant ' +
      'confirmé, cette page dira la suite. Merci de ne pas payer une seconde fois.',
    sum: 'Vu sur le réseau',
  },
  over: { title: 'Le délai de paiement est écoulé' },
  choose: 'Le prix est fixé au moment du choix. Vous pouvez changer d’avis tant que vous n’avez pas payé.',
  unavailable: {
    BELOW_MINIMUM: 'Le montant est inférieur au minimum de ce réseau',
    TEMPORARILY_UNAVAILABLE: 'Indisponible pour le moment',
    NOT_AVAILABLE: 'Indisponible pour cette facture',
    NETWORK_OFF: 'Ce réseau n’est pas en service pour le moment',
  },
  about: 'arrive en {time} environ',
  underMinute: 'arrive en moins d’une minute',
  onNetwork: 'sur {network}',
  fee: 'frais d’environ {fee}',
  feeFrom: 'frais à partir de {fee}',
  feeUnder: 'frais de moins de {fee}',
  feeNote:
    'Les frais sont prélevés par le réseau sur votre portefeuille, en plus du montant. Ils varient selon son trafic.',
  lowestFee: 'Frais les plus bas',
  networksOf: 'Réseaux pour {coin}',
  slowNetwork: 'Les paiements sur ce réseau sont détectés en retard pour le moment',
  send: 'Envoyez exactement {amount} {asset}',
  sendRest: 'Envoyez les {amount} {asset} restants',
  onlySend:
    'N’envoyez à cette adresse que des {asset} sur le réseau {network}. Tout autre envoi peut être perdu ou ' +
    'retardé.',
  address: 'Adresse',
  network: 'Réseau',
  copy: 'Copier',
  copied: 'Copié',
  copyAmount: 'Copier le montant',
  copyAddress: 'Copier l’adresse',
  tag: 'Tag de destination',
  copyTag: 'Copier le tag de destination',
  needsTag: 'Indiquez aussi ce tag. Sans lui, votre paiement n’est pas retrouvé.',
  ownTag: 'Votre tag de destination sur {network}',
  lightning: {
    invoice: 'Facture Lightning',
    copy: 'Copier la facture',
    only:
      'Payez cette facture une seule fois et en entier, avec un portefeuille qui paie par Lightning. Rien ' +
      'd’autre n’y arrive.',
    either:
      'Payez à l’adresse, ou payez la facture par Lightning : l’une des deux, une seule fois. Le code a les deux.',
    qr: 'Code QR avec la facture Lightning',
    making:
      'Votre facture Lightning est en cours de création. Elle s’affiche ici d’elle-même ; sinon, choisissez un ' +
      'autre moyen.',
    hash: 'Hash du paiement',
    over: 'La facture Lightning ne peut plus être payée : ce qu’un portefeuille envoie pour elle revient de lui-même.',
  },
  openWallet: 'Ouvrir dans le portefeuille',
  showCode: 'Afficher le code QR',
  bareCode: 'Code QR avec l’adresse seule',
  bareWhy:
    'Pour les portefeuilles et plateformes qui ne lisent pas le code avec le montant : saisissez vous-même le ' +
    'montant exact.',
  wallet: {
    pay: 'Payer avec {wallet}',
    sent:
      'Envoyé depuis votre portefeuille. Cette page l’affiche dès que le réseau le montre ; merci de ne pas ' +
      'payer une seconde fois.',
    failed: 'Le portefeuille n’a pas envoyé le paiement.',
  },
  qr: 'Code QR avec l’adresse et le montant en {asset}',
  rate: 'Taux',
  clock: {
    price: 'Ce prix est garanti encore {left}, jusqu’à {end}. Ensuite, cette page en affiche un nouveau.',
    last: 'Temps restant pour payer : {left}, jusqu’à {end}.',
  },
  quoteOver: 'Le prix n’est plus garanti. Demandez le prix actuel avant de payer.',
  tooLate: 'Le prix n’est plus garanti et le délai de paiement est écoulé. Si vous avez payé, rien n’est perdu.',
  refresh: 'Obtenir le prix actuel',
  change: 'Payer avec une autre monnaie',
  cancel: 'Annuler cette facture',
  cancelTitle: 'Annuler cette facture ?',
  cancelSure:
    'N’annulez pas si vous avez déjà envoyé de l’argent : il arriverait comme un paiement à part et il ' +
    'faudrait l’aide du marchand.',
  cancelYes: 'Oui, l’annuler',
  cancelNo: 'Non, revenir',
  received: 'Reçu',
  remaining: 'Reste à payer',
  price: 'Prix',
  confirmations: '{now} confirmations sur {needed}',
  mayClose: 'Vous pouvez fermer cette page : votre paiement se poursuit sans elle.',
  done: 'Vous pouvez garder cette page comme reçu.',
  back: 'Retour à {merchant}',
  print: 'Imprimer le reçu',
  receipt: 'Reçu de paiement',
  invoice: 'Facture',
  merchant: 'Marchand',
  order: 'Commande',
  description: 'Objet',
  contact: 'Nous contacter',
  terms: 'Conditions générales',
  paidOn: 'Payé le',
  refunded: 'Remboursé',
  pdf: 'Reçu en PDF',
  transaction: 'Transaction',
  networkDelayed:
    'Nous ne voyons pas de nouvelles transactions du réseau {network} en ce moment. Si vous avez payé, rien ' +
    'n’est perdu : cette facture n’expire pas d’ici là. Sinon, patientez un peu.',
  lateMoney:
    'L’argent qui arrive maintenant n’est pas perdu : il est enregistré comme un paiement à part, et le ' +
    'marchand peut le voir et le rembourser. Merci de ne plus rien envoyer ; si c’est déjà fait, contactez le ' +
    'marchand.',
  exceptions: {
    underpaid:
      'Moins que le montant complet est arrivé avant l’expiration de la facture. Contactez le marchand : ce ' +
      'que vous avez envoyé est gardé pour vous.',
    overpaid: 'Vous avez envoyé plus que demandé. Le marchand le voit et peut rembourser la différence.',
    paidLate:
      'De l’argent est arrivé après l’expiration de cette facture. Il a été enregistré comme un paiement à ' +
      'part ; contactez le marchand.',
    wrongCurrency: 'Une autre monnaie que celle choisie est arrivée. Contactez le marchand.',
    reorged:
      'Le réseau a repris une transaction pour un temps. Rien n’est perdu : la page suit ce que dit le ' + 'réseau.',
  },
  accepted: {
    underpaid: 'Moins que le montant complet est arrivé ; il a été accepté comme paiement intégral.',
    wrongCurrency: 'Une autre monnaie que celle choisie est arrivée ; elle a été acceptée comme paiement.',
  },
  other: {
    title: 'Reçu dans une autre monnaie',
    asked: 'Vous avez envoyé {received}. Cette facture demande {amount} {asset} sur le réseau {network}.',
    notLost:
      'Ce que vous avez envoyé n’est pas perdu. Merci de ne pas payer une seconde fois ; vous n’avez rien à ' +
      'faire.',
    acceptedAt:
      'C’est accepté comme votre paiement le {time}, ou plus tôt si le marchand l’accepte ; il peut encore le ' +
      'refuser.',
    decidedBy:
      'Le marchand décide jusqu’au {time} s’il l’accepte comme votre paiement. Sans réponse, ce paiement ' +
      'prend alors fin et le marchand peut vous renvoyer les fonds.',
    held: 'C’est gardé, et le marchand peut vous le renvoyer. Contactez le marchand et indiquez cette transaction.',
  },
  payer: {
    ask: 'Où l’argent doit-il revenir en cas de problème ?',
    address: 'Votre adresse {asset} sur {network} (facultatif)',
    why:
      'Un remboursement va à cette adresse ou, sans elle, à ce navigateur. Utilisez une adresse à vous sur le ' +
      'réseau {network}, jamais celle d’une plateforme d’échange. Elle peut être changée ici jusqu’à ce que ' +
      'votre paiement ait été vu, pas après.',
    save: 'Enregistrer',
    goesTo: 'Un remboursement irait à',
    yours: 'Ce n’est pas votre adresse ? Alors ne payez pas et contactez le marchand.',
    locked: 'Votre paiement a été vu : cela ne peut plus être changé ici.',
    contested: 'Plus d’un navigateur dit être celui du payeur. Le marchand décide où l’argent reviendrait.',
    name: 'Indiquer l’adresse de votre remboursement',
  },
  mail: {
    ask: 'Recevoir le reçu par e-mail',
    address: 'Votre adresse e-mail',
    why:
      'Nous y écrivons une seule fois, lorsque votre paiement est confirmé. Personne d’autre ne la ' +
      'voit, pas même le marchand.',
    send: 'M’envoyer le reçu',
    kept: 'Le reçu sera envoyé à l’adresse indiquée dès que votre paiement sera confirmé.',
    refused: 'Le reçu ne peut pas être envoyé à cette adresse. Vérifiez-la, ou imprimez le reçu depuis cette page.',
  },
  claim: {
    comesBack:
      'Moins que le montant complet est arrivé avant l’expiration de la facture. Ce que vous avez envoyé vous ' +
      'revient.',
    note:
      'Moins que le montant complet est arrivé avant l’expiration de la facture. Ce que vous avez envoyé vous ' +
      'revient. Le marchand vous enverra un lien où indiquer l’adresse.',
    titles: {
      awaiting_address: 'Où devons-nous envoyer votre remboursement ?',
      awaiting_approval: 'En attente de l’accord du marchand',
      pending: 'Votre remboursement est en préparation',
      processing: 'Votre remboursement est en préparation',
      broadcast: 'Votre remboursement est en route',
      completed: 'Votre remboursement est arrivé',
      failed: 'Votre remboursement n’a pas pu être envoyé',
      cancelled: 'Ce remboursement a été annulé',
    },
    texts: {
      awaiting_address: 'Le marchand vous enverra un lien où indiquer l’adresse.',
      awaiting_approval:
        'Nous avons votre adresse. Nous envoyons l’argent dès que le marchand a approuvé le remboursement.',
      pending: 'Nous avons votre adresse. Nous envoyons l’argent sous peu ; vous pouvez fermer cette page.',
      processing: 'Nous avons votre adresse. Nous envoyons l’argent sous peu ; vous pouvez fermer cette page.',
      broadcast: 'Le réseau est en train de le confirmer ; vous pouvez fermer cette page.',
      completed: 'Le réseau l’a confirmé.',
      failed: 'Le réseau ne l’a pas accepté à cette adresse. Contactez le marchand : l’argent n’est pas perdu.',
      cancelled: 'Contactez le marchand si vous en attendiez de l’argent.',
    },
    amount: 'Remboursement',
    fee: 'Frais de réseau',
    worth: 'Valeur',
    gets: 'Vous recevez',
    ask: 'Indiquez une adresse {asset} sur {network} qui vous appartient et n’est pas un contrat intelligent.',
    address: 'Votre adresse {asset} sur {network}',
    own:
      'Utilisez un portefeuille à vous qui accepte {asset} sur {network}. L’adresse d’où vous avez payé peut ' +
      'appartenir à une plateforme d’échange et non à vous ; demandez-lui une adresse de dépôt.',
    refused:
      'Cette adresse ne peut pas être utilisée. Indiquez une adresse complète du réseau {network} qui vous ' +
      'appartient et n’est pas un contrat intelligent.',
    notNow: 'Ce n’est pas possible pour le moment. Rien n’est perdu : réessayez dans quelques minutes.',
    next: 'Continuer',
    sure: 'Est-ce votre adresse ?',
    final: 'Cela ne pourra plus être changé ni annulé. Comparez l’adresse entière.',
    yes: 'Oui, l’envoyer là',
    no: 'Non, la changer',
    byLightning: {
      ask:
        'Créez dans votre portefeuille Lightning une facture de {amount} exactement ({satoshi} satoshis), ' +
        'valable aussi longtemps que votre portefeuille le permet, une semaine au plus, et collez-la ici.',
      address: 'Votre facture Lightning de {amount}',
      own: 'Utilisez un portefeuille à vous. L’argent va à qui a créé la facture.',
      refused:
        'Cette facture ne peut pas être utilisée. Il en faut une nouvelle, de {amount} exactement ' +
        '({satoshi} satoshis), valable encore quelques minutes et une semaine au plus, et qui ne vienne pas ' +
        'de là où vous avez payé.',
      sure: 'Est-ce votre facture ?',
      final: 'Cela ne pourra plus être changé ni annulé. Comparez le début et la fin de la facture.',
      yes: 'Oui, la payer',
      fee: 'Frais Lightning',
      texts: {
        awaiting_approval:
          'Nous avons votre facture. Nous la payons dès que le commerçant a approuvé le remboursement ; ' +
          'si elle a expiré d’ici là, demandez-lui un nouveau lien.',
        pending: 'Nous avons votre facture. Nous la payons sous peu ; vous pouvez fermer cette page.',
        processing: 'Nous avons votre facture. Nous la payons sous peu ; vous pouvez fermer cette page.',
        completed: 'Votre facture est payée.',
        failed:
          'Votre facture n’a pas pu être payée : elle a expiré, ou aucun chemin vers votre portefeuille ' +
          'n’a été trouvé. Demandez au commerçant un nouveau lien : l’argent n’est pas perdu.',
      },
    },
  },
  settlement: {
    titles: {
      awaiting_approval: 'Une adresse de règlement attend un accord',
      cooling_off: 'Une adresse de règlement va changer',
      applied: 'Une adresse de règlement a été changée',
      stopped: 'Le changement a été arrêté',
      replaced: 'Le changement a été remplacé par un autre plus récent',
    },
    effect: {
      awaiting_approval: 'Arrêté, il ne vaudra jamais.',
      cooling_off: 'Arrêté, il ne vaudra jamais.',
      applied: 'Arrêté, les nouveaux paiements vont à l’adresse précédente. Ceux faits entre-temps gardent la leur.',
    },
    asked: '{who} a demandé de régler l’argent de {merchant} à une autre adresse.',
    to: 'La nouvelle adresse',
    before: 'L’adresse précédente',
    from: 'Elle vaut à partir du {time}.',
    stop: 'Arrêter ce changement',
    refused: 'Il n’a pas pu être arrêté : il est terminé ou vaut depuis plus d’une semaine.',
  },
  root: {
    title: 'Pages de paiement',
    text:
      'Des marchands reçoivent des paiements en cryptomonnaie sur ce serveur. Chaque facture a sa page : ' +
      'ouvrez le lien que le marchand vous a donné. Nous ne demandons jamais vos clés, votre phrase de ' +
      'récupération ni un mot de passe.',
  },
  helpAt: 'Des questions sur votre commande ? Adressez-vous à {contact} en indiquant le numéro de facture.',
  help: 'Des questions sur votre commande ? Contactez le marchand et indiquez le numéro de facture.',
  notFound: 'Cette facture n’existe pas',
  notFoundText: 'Vérifiez le lien ou demandez-en un nouveau au marchand.',
  away: 'Le service de paiement ne répond pas',
  awayText: 'Rien de ce que vous avez envoyé n’est perdu. Rechargez cette page dans une minute.',
  tooMany: 'Trop de requêtes',
  tooManyText:
    'Votre connexion a envoyé trop de requêtes en peu de temps. Rien de ce que vous avez envoyé n’est perdu. ' +
    'Réessayez dans {time}.',
  again: 'Réessayer',
  refused: 'Ce n’était plus possible. La page montre où en est le paiement.',
  testMode: 'Instance de test : les cryptomonnaies n’ont ici aucune valeur. N’envoyez jamais d’argent réel.',
  still: 'Sans JavaScript, cette page ne change pas toute seule.',
  reload: 'Recharger la page',
};
