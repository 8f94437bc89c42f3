//go:build chromium

package main

import (
	"context"
	_ "embed"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"golang.org/x/sync/errgroup"

	"rollcall/tools/browser"
	"rollcall/tools/testfile"
)

const (
	folder = "../../build/site"
	axe    = "../../docs/site/node_modules/axe-core/axe.min.js"
)

//go:embed page.js
var script string

// seen is what page.js returns of a page.
type seen struct {
	Path      string   `json:"path"`
	Heading   string   `json:"heading"`
	IDs       []string `json:"ids"`
	Links     []string `json:"links"`
	Broken    []string `json:"broken"`
	Elsewhere []string `json:"elsewhere"`
	Wide      int      `json:"wide"`
}

// serve serves the built site, which must be there, and lists its pages.
func serve(t *testing.T) (string, []string) {
	t.Helper()
	site, err := readBuilt(folder)
	if err != nil {
		t.Fatalf("%v: make site builds it", err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	t.Cleanup(server.Close)
	var pages []string
	for at := range site.Pages {
		if strings.HasSuffix(at, ".html") && at != "/404.html" {
			// The file server sends /index.html to /.
			pages = append(pages, strings.TrimSuffix(at, "index.html"))
		}
	}
	slices.Sort(pages)
	return server.URL, pages
}

func open(t *testing.T, ctx context.Context, narrow bool) *browser.Tab {
	t.Helper()
	b, err := browser.Start(ctx, narrow)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// visit opens a page and has the script in it.
func visit(ctx context.Context, b *browser.Tab, address string) error {
	return browser.Do(ctx, b, chromedp.Navigate(address), chromedp.Evaluate[chromedp.Void](script))
}

// minute is how long one page may take on a busy machine.
func minute(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// Every page is drawn, loads nothing from elsewhere, shows each of its pictures, fits a desk
// and a phone, and each of its links leads to a page and a heading that are there when the
// browser has drawn them.
func TestEveryPage(t *testing.T) {
	address, pages := serve(t)
	if len(pages) < 140 {
		t.Fatalf("%d pages: this test looks for the wrong thing", len(pages))
	}
	var mu sync.Mutex
	drawn := map[string]seen{}
	group, ctx := errgroup.WithContext(t.Context())
	const tabs = 2
	for n := range tabs {
		b := open(t, ctx, false)
		group.Go(func() error {
			for i := n; i < len(pages); i += tabs {
				s, narrow, err := both(ctx, b, address+pages[i])
				if err != nil {
					return err
				}
				mu.Lock()
				drawn[pages[i]] = s
				mu.Unlock()
				if s.Heading == "" || len(s.Broken)+len(s.Elsewhere) > 0 {
					t.Errorf("%s: heading %q, pictures that are not there %v, loaded from elsewhere %v", pages[i], s.Heading, s.Broken, s.Elsewhere)
				}
				if s.Wide > 0 || narrow > 0 {
					t.Errorf("%s is wider than the window: by %d on a desk, by %d on a phone", pages[i], s.Wide, narrow)
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, from := range slices.Sorted(maps.Keys(drawn)) {
		for _, to := range drawn[from].Links {
			path, heading, _ := strings.Cut(to, "#")
			links++
			page, known := drawn[strings.TrimSuffix(path, "index.html")]
			switch {
			case !known && strings.HasSuffix(path, ".png"): // held by go run ./tools/site check
			case !known:
				t.Errorf("%s links to %s, which is no page", from, to)
			case heading != "" && !slices.Contains(page.IDs, heading):
				t.Errorf("%s links to %s, and there is no such heading", from, to)
			}
		}
	}
	if links < 10_000 {
		t.Errorf("%d links: this test looks for the wrong thing", links)
	}
	t.Logf("%d pages, %d links", len(drawn), links)
}

// both is a page on a desk, and how much too wide it is on a phone.
func both(ctx context.Context, b *browser.Tab, address string) (s seen, narrow int, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := visit(ctx, b, address); err != nil {
		return s, 0, err
	}
	if s, err = browser.Call[seen](ctx, b, "siteForTest.seen"); err != nil {
		return s, 0, err
	}
	if err := b.Widen(ctx, true); err != nil {
		return s, 0, err
	}
	if narrow, err = browser.Call[int](ctx, b, "siteForTest.wide"); err != nil {
		return s, 0, err
	}
	return s, narrow, b.Widen(ctx, false)
}

// What people type is found: among the first three, and there it stands.
func TestSearch(t *testing.T) {
	address, _ := serve(t)
	b := open(t, t.Context(), false)
	for _, tt := range []struct{ typed, leads, says string }{
		{"Instances failed to join the kubernetes cluster", "/texts.html#message-", "Instances failed to join the kubernetes cluster"},
		{"container runtime network not ready: NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized", "/texts.html#message-", "cni plugin not initialized"},
		{"VcpuLimitExceeded", "/texts.html#the-quota-of-on-demand-vcpus-is-used-up", "VcpuLimitExceeded"},
		{"1 node(s) had volume node affinity conflict", "/texts.html#message-", "volume node affinity conflict"},
		{"InsufficientFreeAddressesInSubnet", "/texts.html#the-subnet-has-no-free-address-for-another-instance", "InsufficientFreeAddressesInSubnet"},
		{"not_in_channel", "/troubleshoot.html#not-in-channel-channel-not-found", "not_in_channel"},
		{"no AWS credentials found", "/troubleshoot.html#no-aws-credentials-found", "no AWS credentials found"},
		{"route/no-egress", "/checks/route/no-egress.html", "The subnet has no route to the internet"},
	} {
		ctx := minute(t)
		if err := visit(ctx, b, address+"/"); err != nil {
			t.Fatal(err)
		}
		err := browser.Do(ctx, b, chromedp.Click("#local-search button"), chromedp.WaitVisible("#localsearch-input"), chromedp.SendKeys("#localsearch-input", tt.typed))
		if err != nil {
			t.Fatalf("type %q: %v", tt.typed, err)
		}
		found, err := browser.Call[[]string](ctx, b, "siteForTest.found")
		if err != nil {
			t.Fatal(err)
		}
		first := found[:min(3, len(found))]
		at := slices.IndexFunc(first, func(to string) bool { return strings.HasPrefix(to, tt.leads) })
		if at < 0 {
			t.Errorf("%q: found %v, want %s", tt.typed, first, tt.leads)
			continue
		}
		if err := visit(ctx, b, address+first[at]); err != nil {
			t.Fatal(err)
		}
		text, err := browser.Run(ctx, b, chromedp.Text("main"))
		if err != nil || !strings.Contains(text, tt.says) {
			t.Errorf("%q leads to %s, which does not say %q: %v", tt.typed, first[at], tt.says, err)
		}
	}
}

// Axe finds nothing serious on any kind of page, in light and dark, on a desk and a phone,
// nor in the search.
func TestAxe(t *testing.T) {
	address, _ := serve(t)
	rules := testfile.Read(t, axe)
	b := open(t, t.Context(), false)
	look := func(t *testing.T, what string) {
		t.Helper()
		ctx := minute(t)
		if err := browser.Do(ctx, b, chromedp.Evaluate[chromedp.Void](string(rules)+";true")); err != nil {
			t.Fatal(err)
		}
		for _, dark := range []bool{false, true} {
			if is, err := browser.Call[bool](ctx, b, "siteForTest.dark", dark); err != nil || is != dark {
				t.Fatalf("%s: dark is %v, %v", what, is, err)
			}
			serious, err := browser.Call[[]string](ctx, b, "siteForTest.axe")
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range serious {
				t.Errorf("%s, dark %v: %s", what, dark, s)
			}
		}
	}
	for _, page := range []string{"/", "/start.html", "/deploy.html", "/troubleshoot.html", "/stories.html", "/checks/", "/checks/route/no-egress.html", "/settings.html", "/command.html", "/permissions.html", "/spot.html", "/404.html"} {
		t.Run(page, func(t *testing.T) {
			if err := visit(minute(t), b, address+page); err != nil {
				t.Fatal(err)
			}
			look(t, page)
		})
	}
	t.Run("phone", func(t *testing.T) {
		ctx := minute(t)
		if err := b.Widen(ctx, true); err != nil {
			t.Fatal(err)
		}
		if err := visit(ctx, b, address+"/checks/route/no-egress.html"); err != nil {
			t.Fatal(err)
		}
		look(t, "a check on a phone")
		if err := browser.Do(ctx, b, chromedp.Click(".VPLocalNav .menu"), chromedp.WaitVisible(".VPSidebar.open")); err != nil {
			t.Fatal(err)
		}
		look(t, "the menu on a phone")
	})
	t.Run("search", func(t *testing.T) {
		ctx := minute(t)
		if err := b.Widen(ctx, false); err != nil {
			t.Fatal(err)
		}
		if err := visit(ctx, b, address+"/"); err != nil {
			t.Fatal(err)
		}
		if err := browser.Do(ctx, b, chromedp.Click("#local-search button"), chromedp.WaitVisible("#localsearch-input"), chromedp.SendKeys("#localsearch-input", "subnet")); err != nil {
			t.Fatal(err)
		}
		if found, err := browser.Call[[]string](ctx, b, "siteForTest.found"); err != nil || len(found) == 0 {
			t.Fatalf("found %v, %v", found, err)
		}
		look(t, "the search")
	})
}
