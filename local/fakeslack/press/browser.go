//go:build chromium

package press

import (
	"context"
	"errors"
	"fmt"
	"os/exec"

	"github.com/chromedp/chromedp"
)

// ErrNoBrowser tells what to install.
var ErrNoBrowser = errors.New("no Chromium found: install it (Debian and Ubuntu: apt-get install chromium), or put its path on PATH as chromium")

// Browser is a headless Chromium with one tab.
type Browser struct {
	tab context.Context
	end []context.CancelFunc
}

// Start starts a browser that ends with ctx or Close. Narrow is a phone's
// width, else it is a desk's.
func Start(ctx context.Context, narrow bool) (*Browser, error) {
	path, err := find(exec.LookPath)
	if err != nil {
		return nil, err
	}
	width, height := int64(1280), int64(900)
	if narrow {
		width, height = 390, 844
	}
	// A container's root has no sandbox to enter.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU)
	all, endAll := chromedp.NewExecAllocator(ctx, options...)
	tab, endTab := chromedp.NewContext(all)
	b := &Browser{tab: tab, end: []context.CancelFunc{endTab, endAll}}
	// The window itself cannot be as narrow as a phone.
	if err := chromedp.Do(tab, chromedp.EmulateViewport(width, height)); err != nil {
		b.Close()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return b, nil
}

// Close ends the browser.
func (b *Browser) Close() {
	for _, end := range b.end {
		end()
	}
}

func find(look func(string) (string, error)) (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"} {
		if path, err := look(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNoBrowser
}

// run carries out an action in the tab, for as long as ctx lasts.
func run[T any](ctx context.Context, b *Browser, a chromedp.Action[T]) (T, error) {
	tab, cancel := context.WithCancel(b.tab)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	v, err := chromedp.Run(tab, a)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return v, err
}

// do carries out actions one after another.
func do(ctx context.Context, b *Browser, steps ...chromedp.Action[chromedp.Void]) error {
	_, err := run(ctx, b, chromedp.Steps(steps...))
	return err
}
