// A script: CodeMirror with Python.

import { basicSetup } from 'codemirror';
import { syntaxHighlighting } from '@codemirror/language';
import { EditorView } from '@codemirror/view';
import { python } from '@codemirror/lang-python';
import { classHighlighter } from '@lezer/highlight';

// In `place`; changed() is called when a person has typed.
export function editor(place, text, changed) {
  let own = false;
  const view = new EditorView({
    doc: text,
    parent: place,
    extensions: [
      basicSetup,
      python(),
      syntaxHighlighting(classHighlighter), // colours of style.css, for both themes
      EditorView.contentAttributes.of({ 'aria-label': place.dataset.label, tabindex: '0' }),
      EditorView.updateListener.of((update) => {
        if (update.docChanged && !own) {
          changed();
        }
      }),
    ],
  });
  return {
    get: () => view.state.doc.toString(),
    set(next) {
      own = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
      own = false;
    },
  };
}
