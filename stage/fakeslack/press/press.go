//go:build chromium

package press

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"

	"github.com/chromedp/chromedp"

	"rollcall/tools/browser"
)

// Press is what a person does on the page.
type Press struct {
	// Page is the stand-in's address (empty: the page as it is), Channel an id of it (empty: the first).
	Page, Channel string
	// As is the id of the user who looks at the page; empty: the first.
	As string
	// Message is a piece of the message's text, Button what stands on the
	// button, or on the menu, of which Option is then chosen.
	Message, Button, Option string
	// Home is on the app's home page in place of a channel.
	Home bool
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

// Browser presses on the stand-in's page.
type Browser struct{ *browser.Tab }

// Start starts a browser that ends with ctx or Close. Narrow is a phone's
// width, else it is a desk's.
func Start(ctx context.Context, narrow bool) (*Browser, error) {
	tab, err := browser.Start(ctx, narrow)
	return &Browser{tab}, err
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
	home := ""
	if p.Home {
		home = "1"
	}
	if p.Page != "" {
		if err := b.open(ctx, p.Page, map[string]string{"channel": p.Channel, "as": p.As, "home": home}); err != nil {
			return shown, err
		}
	}
	if p.Home {
		// What it shows is drawn anew when a user opens it.
		if _, err := browser.Call[Shown](ctx, b.Tab, "pressForTest.after", p.Message, false); err != nil {
			return shown, fmt.Errorf("wait for %q on the home page: %w", p.Message, err)
		}
	}
	seen, err := browser.Call[sought](ctx, b.Tab, "pressForTest.find", p.Message, p.Button, p.Option)
	switch {
	case err != nil:
		return shown, fmt.Errorf("look for %q: %w", p.Button, err)
	case !seen.Found:
		return shown, fmt.Errorf("no message with %q has %q; there are %q", p.Message, p.Button, seen.Has)
	case !seen.Chosen:
		if err := browser.Do(ctx, b.Tab, chromedp.Click(mark)); err != nil {
			return shown, fmt.Errorf("click %q: %w", p.Button, err)
		}
	}
	asked := ""
	if seen.Asks {
		answer := "#confirm button[value=yes]"
		if p.Cancel {
			answer = "#confirm button[value=no]"
		}
		if err := browser.Do(ctx, b.Tab, chromedp.WaitVisible("#confirm")); err != nil {
			return shown, fmt.Errorf("wait for the dialog of %q: %w", p.Button, err)
		}
		asked, err = browser.Run(ctx, b.Tab, chromedp.Text("#confirm"))
		if err = errors.Join(err, browser.Do(ctx, b.Tab, chromedp.Click(answer))); err != nil {
			return shown, fmt.Errorf("answer the dialog of %q: %w", p.Button, err)
		}
	}
	if shown, err = browser.Call[Shown](ctx, b.Tab, "pressForTest.after", p.Until, p.Cancel); err != nil {
		return shown, fmt.Errorf("wait for %q after %q was pressed: %w", p.Until, p.Button, err)
	}
	shown.Asked = asked
	return shown, nil
}

// open opens the page, with the script in it.
func (b *Browser) open(ctx context.Context, page string, of map[string]string) error {
	query := url.Values{}
	for name, value := range of {
		if value != "" {
			query.Set(name, value)
		}
	}
	if err := browser.Do(ctx, b.Tab, chromedp.Navigate(page+"/?"+query.Encode()), chromedp.Evaluate[chromedp.Void](script)); err != nil {
		return fmt.Errorf("open the page of %s: %w", page, err)
	}
	return nil
}

// Typed is what a person types into the box below the channel, and sends.
type Typed struct {
	Page, As, Text string
	// Until is a piece of text that the page shows when it is over.
	Until string
}

// Type opens the page, types for real, and waits for what follows, as long as ctx lasts.
func (b *Browser) Type(ctx context.Context, t Typed) (Shown, error) {
	if err := b.open(ctx, t.Page, map[string]string{"as": t.As}); err != nil {
		return Shown{}, err
	}
	// The page is live then, and answers are drawn as they come.
	if _, err := browser.Call[bool](ctx, b.Tab, "pressForTest.live"); err != nil {
		return Shown{}, fmt.Errorf("wait for the page: %w", err)
	}
	if err := browser.Do(ctx, b.Tab, chromedp.SendKeys("#channel .say textarea", t.Text+"\r")); err != nil {
		return Shown{}, fmt.Errorf("type %q: %w", t.Text, err)
	}
	shown, err := browser.Call[Shown](ctx, b.Tab, "pressForTest.after", t.Until, false)
	if err != nil {
		return shown, fmt.Errorf("wait for %q after %q was typed: %w", t.Until, t.Text, err)
	}
	return shown, nil
}

// Home opens the app's home page and waits until it shows a text.
func (b *Browser) Home(ctx context.Context, page, as, until string) (Shown, error) {
	if err := b.open(ctx, page, map[string]string{"as": as, "home": "1"}); err != nil {
		return Shown{}, err
	}
	return browser.Call[Shown](ctx, b.Tab, "pressForTest.after", until, false)
}
