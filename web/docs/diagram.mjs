import { Graph, layout } from '@dagrejs/dagre';
import { html, raw } from './html.mjs';

/** The height of a line and the width of a letter at the size in which the drawing is made. */
const line = 18;
const letter = 7.6;

/** Moves of a Mermaid state diagram: `A --> B: label`. */
function movesOf(text) {
  return text
    .split('\n')
    .map((row) => /^\s*(\S+) --> (\S+?)(?:: (.+))?$/.exec(row))
    .filter(Boolean)
    .map(([, from, to, label = '']) => ({ from, to, label }));
}

const isPoint = (name) => name === 'begin' || name === 'end';
const round = (value) => Math.round(value * 10) / 10;

function arranged(moves) {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: 26, ranksep: 40, edgesep: 14, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  const add = (name) =>
    graph.setNode(name, isPoint(name) ? { width: 14, height: 14 } : { width: name.length * letter + 24, height: 34 });
  for (const { from, to, label } of moves) {
    add(from);
    add(to);
    graph.setEdge(from, to, { label, width: label.length * letter + 8, height: label ? line : 0, labelpos: 'c' });
  }
  layout(graph);
  return graph;
}

const drawnEdge = ({ points, label, x, y, width }) => {
  const path = points.map((point, at) => `${at ? 'L' : 'M'}${round(point.x)} ${round(point.y)}`).join(' ');
  return html`<path class="edge" d="${path}" marker-end="url(#arrow)" />${
      label &&
      html`<rect
          class="label-back"
          x="${round(x - width / 2)}"
          y="${round(y - line / 2)}"
          width="${round(width)}"
          height="${line}"
        /><text class="label" x="${round(x)}" y="${round(y + 4)}" text-anchor="middle">${label}</text>`
    }`;
};
const drawnNode = (name, { x, y, width, height }) =>
  isPoint(name)
    ? html`<circle class="${name}" cx="${round(x)}" cy="${round(y)}" r="6" />`
    : html`<rect
          class="state"
          x="${round(x - width / 2)}"
          y="${round(y - height / 2)}"
          width="${round(width)}"
          height="${height}"
          rx="8"
        /><text class="name" x="${round(x)}" y="${round(y + 5)}" text-anchor="middle">${name}</text>`;

/** A state diagram as a drawing without any style of its own; its moves are told in words too. */
export function stateDiagram(text) {
  const moves = movesOf(text).map((move) => ({
    ...move,
    from: move.from === '[*]' ? 'begin' : move.from,
    to: move.to === '[*]' ? 'end' : move.to,
  }));
  if (moves.length === 0) throw new Error('A diagram without moves');
  const graph = arranged(moves);
  const { width, height } = graph.graph();
  const told = moves
    .filter(({ from, to }) => !isPoint(from) && !isPoint(to))
    .map(({ from, to, label }) => `${from} to ${to}${label ? ` (${label})` : ''}`)
    .join('; ');
  return html`<div class="wide" tabindex="0" role="group" aria-label="Diagram">
    <svg
      class="diagram"
      role="img"
      aria-labelledby="diagram-title diagram-moves"
      viewBox="0 0 ${Math.ceil(width)} ${Math.ceil(height)}"
      width="${Math.ceil(width)}"
      height="${Math.ceil(height)}"
    >
      <title id="diagram-title">Every change of status</title>
      <desc id="diagram-moves">${told}</desc>
      <defs>
        <marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto">
          <path class="tip" d="M0 0L10 5L0 10z" />
        </marker>
      </defs>
      ${raw(
        graph
          .edges()
          .map((edge) => drawnEdge(graph.edge(edge)))
          .join('\n'),
      )}
      ${raw(
        graph
          .nodes()
          .map((name) => drawnNode(name, graph.node(name)))
          .join('\n'),
      )}
    </svg>
  </div>`.toString();
}
