/* Buttons for the wallets of this browser (EIP-6963): connect, the right network, the exact amount. What is paid stands
   in the page as the server wrote it, and is read again when it is sent. */
const main = document.getElementById('invoice');
const announcer = document.getElementById('announcer');
const providers = new Map();
const place = () => main.querySelector('#wallets');

function draw() {
  const wallets = place();
  if (!wallets) return;
  const known = new Set([...wallets.querySelectorAll('button')].map(({ dataset }) => dataset.wallet));
  for (const [id, { info, provider }] of providers) {
    if (known.has(id)) continue;
    const button = document.createElement('button');
    const name = info.name.slice(0, 40);
    button.className = 'button plain';
    button.type = 'button';
    button.dataset.wallet = id;
    if (/^data:image\//.test(info.icon)) {
      const icon = document.createElement('img');
      Object.assign(icon, { src: info.icon, alt: '', width: 24, height: 24 });
      button.append(icon);
    }
    button.append(wallets.dataset.pay.replace('{wallet}', () => name));
    button.addEventListener('click', () => void pay(provider));
    wallets.append(button);
  }
}

// One at a time, and none after the first that was sent.
let isBusy = false;
async function pay(provider) {
  if (isBusy) return;
  isBusy = true;
  try {
    const [from] = await provider.request({ method: 'eth_requestAccounts' });
    const { chain } = place().dataset;
    const onChain = async () => BigInt(await provider.request({ method: 'eth_chainId' })) === BigInt(chain);
    if (!(await onChain()))
      await provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: chain }] });
    if (!(await onChain())) throw new Error('Another network');
    // The price may have changed meanwhile, or be over: then there is nothing to send.
    const { to, value, data, chain: now } = place().dataset;
    if (now !== chain) throw new Error('Another network');
    const params = [{ from, to, value, ...(data ? { data } : {}) }];
    await provider.request({ method: 'eth_sendTransaction', params });
    tell('sent');
  } catch {
    isBusy = false;
    tell('failed');
  }
}

function tell(what) {
  const wallets = place();
  if (!wallets) return;
  let note = wallets.querySelector('p');
  if (!note) wallets.append((note = document.createElement('p')));
  note.textContent = announcer.textContent = wallets.dataset[what];
  for (const button of wallets.querySelectorAll('button')) button.disabled = isBusy;
}

window.addEventListener('eip6963:announceProvider', ({ detail }) => {
  const { info, provider } = detail ?? {};
  if (typeof info?.uuid !== 'string' || typeof info.name !== 'string' || !provider || providers.size >= 8) return;
  providers.set(info.uuid, { info, provider });
  draw();
});
new MutationObserver(draw).observe(main, { childList: true, subtree: true });
window.dispatchEvent(new Event('eip6963:requestProvider'));
