// Package built reads the built site: its pages, where their links lead, and what they
// load.
package built

import (
	"fmt"
	"html"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Page is a page of the built site.
type Page struct {
	ids   map[string]bool
	links []string // addresses that a reader may follow
	loads []string // addresses that a browser loads by itself
}

// Site is what stands in a folder.
type Site struct {
	Pages map[string]Page // by path: "/checks/index.html"
	files map[string]bool
}

var (
	id    = regexp.MustCompile(`\sid="([^"]+)"`)
	link  = regexp.MustCompile(`<a\s[^>]*?href="([^"]*)"`)
	loads = regexp.MustCompile(`<(?:script|img|iframe|video|source)\s[^>]*?src="([^"]*)"|<link\s[^>]*?href="([^"]*)"|url\(\s*['"]?([^'")]+)`)
)

// Read reads a folder.
func Read(folder string) (Site, error) {
	s := Site{Pages: map[string]Page{}, files: map[string]bool{}}
	err := filepath.WalkDir(folder, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(folder, file)
		if err != nil {
			return err
		}
		at := "/" + filepath.ToSlash(name)
		s.files[at] = true
		if kind := path.Ext(at); kind != ".html" && kind != ".css" {
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		s.Pages[at] = pageOf(string(text))
		return nil
	})
	if err != nil {
		return s, fmt.Errorf("read the built site: %w", err)
	}
	return s, nil
}

func pageOf(text string) Page {
	p := Page{ids: map[string]bool{}}
	for _, m := range id.FindAllStringSubmatch(text, -1) {
		p.ids[html.UnescapeString(m[1])] = true
	}
	for _, m := range link.FindAllStringSubmatch(text, -1) {
		p.links = append(p.links, html.UnescapeString(m[1]))
	}
	for _, m := range loads.FindAllStringSubmatch(text, -1) {
		p.loads = append(p.loads, html.UnescapeString(m[1]+m[2]+m[3]))
	}
	return p
}

// Wrong tells of each link that leads nowhere, and of each thing that is loaded from
// another host: who reads the site tells nobody else. Count is of the links within.
func (s Site) Wrong() (wrong []string, count int) {
	for at, p := range s.Pages {
		for _, to := range p.links {
			if external(to) {
				continue
			}
			count++
			if why := s.leads(at, to); why != "" {
				wrong = append(wrong, fmt.Sprintf("%s links to %s: %s", at, to, why))
			}
		}
		for _, to := range p.loads {
			switch {
			case strings.HasPrefix(to, "data:"), strings.HasPrefix(to, "#"):
			case external(to):
				wrong = append(wrong, fmt.Sprintf("%s loads %s from elsewhere", at, to))
			default:
				if why := s.leads(at, to); why != "" {
					wrong = append(wrong, fmt.Sprintf("%s loads %s: %s", at, to, why))
				}
			}
		}
	}
	slices.Sort(wrong)
	return slices.Compact(wrong), count
}

func external(to string) bool {
	u, err := url.Parse(to)
	return err == nil && (u.Scheme != "" || u.Host != "")
}

// leads is why a link leads nowhere; empty where it leads somewhere.
func (s Site) leads(from, to string) string {
	u, err := url.Parse(to)
	if err != nil {
		return err.Error()
	}
	at := from
	if u.Path != "" {
		at = u.Path
		if !strings.HasPrefix(at, "/") {
			at = path.Join(path.Dir(from), at)
			if strings.HasSuffix(u.Path, "/") {
				at += "/"
			}
		}
		if strings.HasSuffix(at, "/") {
			at += "index.html"
		}
	}
	if !s.files[at] {
		return "there is no such file"
	}
	if u.Fragment != "" && path.Ext(at) == ".html" && !s.Pages[at].ids[u.Fragment] {
		return "the page has no such heading"
	}
	return ""
}
