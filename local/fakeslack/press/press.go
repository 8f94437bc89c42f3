//go:build chromium

package press

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/chromedp/chromedp"
)

// Press is what a person does on the page.
type Press struct {
	// Page is the stand-in's address, Channel an id of it (empty: the first).
	Page, Channel string
	// As is the id of the user who looks at the page; empty: the first.
	As string
	// Message is a piece of the message's text, Button what stands on the
	// button, or on the menu, of which Option is then chosen.
	Message, Button, Option string
	// Cancel says no where the page asks whether they are sure.
	Cancel bool
	// Until is a piece of text that the page shows when it is over: an edit, a
	// reply, an ephemeral answer. With none, it is over when the app has answered.
	Until string
}

// Shown is what the page shows then.
type Shown struct {
	// Asked is the text of the dialog that asked; empty if none did.
	Asked string `json:"asked"`
	// Channel is the channel's text, Warning that of the sign beside the button,
	// Hint what the page says at its foot.
	Channel string `json:"channel"`
	Warning string `json:"warning"`
	Hint    string `json:"hint"`
}

//go:embed page.js
var script string

// mark is the attribute by which the script shows what is to be clicked.
const mark = "[data-press-for-test]"

// sought is what the script found.
type sought struct {
	Found  bool     `json:"found"`
	Chosen bool     `json:"chosen"`
	Asks   bool     `json:"asks"`
	Has    []string `json:"has"`
}

// Press opens the page, clicks the button for real, answers the dialog, and
// waits for what follows, as long as ctx lasts.
func (b *Browser) Press(ctx context.Context, p Press) (Shown, error) {
	var shown Shown
	query := url.Values{}
	for name, value := range map[string]string{"channel": p.Channel, "as": p.As} {
		if value != "" {
			query.Set(name, value)
		}
	}
	err := do(ctx, b, chromedp.Navigate(p.Page+"/?"+query.Encode()), chromedp.Evaluate[chromedp.Void](script))
	if err != nil {
		return shown, fmt.Errorf("open the page of %s: %w", p.Page, err)
	}
	seen, err := call[sought](ctx, b, "pressForTest.find", p.Message, p.Button, p.Option)
	switch {
	case err != nil:
		return shown, fmt.Errorf("look for %q: %w", p.Button, err)
	case !seen.Found:
		return shown, fmt.Errorf("no message with %q has %q; there are %q", p.Message, p.Button, seen.Has)
	case !seen.Chosen:
		if err := do(ctx, b, chromedp.Click(mark)); err != nil {
			return shown, fmt.Errorf("click %q: %w", p.Button, err)
		}
	}
	asked := ""
	if seen.Asks {
		answer := "#confirm button[value=yes]"
		if p.Cancel {
			answer = "#confirm button[value=no]"
		}
		if err := do(ctx, b, chromedp.WaitVisible("#confirm")); err != nil {
			return shown, fmt.Errorf("wait for the dialog of %q: %w", p.Button, err)
		}
		asked, err = run(ctx, b, chromedp.Text("#confirm"))
		if err = errors.Join(err, do(ctx, b, chromedp.Click(answer))); err != nil {
			return shown, fmt.Errorf("answer the dialog of %q: %w", p.Button, err)
		}
	}
	if shown, err = call[Shown](ctx, b, "pressForTest.after", p.Until, p.Cancel); err != nil {
		return shown, fmt.Errorf("wait for %q after %q was pressed: %w", p.Until, p.Button, err)
	}
	shown.Asked = asked
	return shown, nil
}

// Picture writes what the tab shows now to a file, as PNG.
func (b *Browser) Picture(ctx context.Context, file string) error {
	png, err := run(ctx, b, chromedp.CaptureScreenshot())
	if err != nil {
		return fmt.Errorf("take a picture: %w", err)
	}
	if err := os.WriteFile(file, png, 0o644); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	return nil
}

// call calls a function of the script and waits for what it promises.
func call[T any](ctx context.Context, b *Browser, name string, arguments ...any) (v T, err error) {
	list, err := json.Marshal(arguments)
	if err != nil {
		return v, fmt.Errorf("write the arguments of %s: %w", name, err)
	}
	return run(ctx, b, chromedp.Evaluate[T](name+"(..."+string(list)+")", chromedp.EvalAwaitPromise))
}
