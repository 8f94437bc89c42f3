//go:build chromium

package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/chromedp/chromedp"
)

// ErrNoBrowser tells what to install.
var ErrNoBrowser = errors.New("no Chromium found: install it (Debian and Ubuntu: apt-get install chromium), or put its path on PATH as chromium")

// Tab is the one tab of a headless Chromium.
type Tab struct {
	tab context.Context
	end []context.CancelFunc
}

// Start starts a browser that ends with ctx or Close. Narrow is a phone's
// width, else it is a desk's.
func Start(ctx context.Context, narrow bool) (*Tab, error) {
	path, err := find(exec.LookPath)
	if err != nil {
		return nil, err
	}
	// A container's root has no sandbox to enter.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU)
	all, endAll := chromedp.NewExecAllocator(ctx, options...)
	tab, endTab := chromedp.NewContext(all)
	b := &Tab{tab: tab, end: []context.CancelFunc{endTab, endAll}}
	// What is run first starts the browser, which lasts as long as the context of that.
	if err := chromedp.Do(tab, viewport(narrow)); err != nil {
		b.Close()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return b, nil
}

// Widen gives the page a phone's width, or a desk's.
func (b *Tab) Widen(ctx context.Context, narrow bool) error { return Do(ctx, b, viewport(narrow)) }

// viewport is a phone's, or a desk's: the window itself cannot be as narrow as a phone.
func viewport(narrow bool) chromedp.Action[chromedp.Void] {
	if narrow {
		return chromedp.EmulateViewport(390, 844)
	}
	return chromedp.EmulateViewport(1280, 900)
}

// Close ends the browser.
func (b *Tab) Close() {
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

// Run carries out an action in the tab, for as long as ctx lasts.
func Run[T any](ctx context.Context, b *Tab, a chromedp.Action[T]) (T, error) {
	tab, cancel := context.WithCancel(b.tab)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	v, err := chromedp.Run(tab, a)
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return v, err
}

// Do carries out actions one after another.
func Do(ctx context.Context, b *Tab, steps ...chromedp.Action[chromedp.Void]) error {
	_, err := Run(ctx, b, chromedp.Steps(steps...))
	return err
}

// Call calls a function of the page and waits for what it promises.
func Call[T any](ctx context.Context, b *Tab, name string, arguments ...any) (v T, err error) {
	list, err := json.Marshal(append([]any{}, arguments...)) // none is a list, too
	if err != nil {
		return v, fmt.Errorf("write the arguments of %s: %w", name, err)
	}
	return Run(ctx, b, chromedp.Evaluate[T](name+"(..."+string(list)+")", chromedp.EvalAwaitPromise))
}

// Picture writes what the tab shows now to a file, as PNG.
func (b *Tab) Picture(ctx context.Context, file string) error {
	png, err := Run(ctx, b, chromedp.CaptureScreenshot())
	if err != nil {
		return fmt.Errorf("take a picture: %w", err)
	}
	if err := os.WriteFile(file, png, 0o644); err != nil {
		return fmt.Errorf("write the picture: %w", err)
	}
	return nil
}
