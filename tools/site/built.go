package main

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

// builtPage is a page of the built site.
type builtPage struct {
	ids   map[string]bool
	links []string // addresses that a reader may follow
	loads []string // addresses that a browser loads by itself
}

// builtSite is what stands in a folder.
type builtSite struct {
	Pages map[string]builtPage // by path: "/checks/index.html"
	files map[string]bool
}

var (
	id    = regexp.MustCompile(`\sid="([^"]+)"`)
	link  = regexp.MustCompile(`<a\s[^>]*?href="([^"]*)"`)
	loads = regexp.MustCompile(`<(?:script|img|iframe|video|source)\s[^>]*?src="([^"]*)"|<link\s[^>]*?href="([^"]*)"|url\(\s*['"]?([^'")]+)`)
)

// readBuilt reads a folder.
func readBuilt(folder string) (builtSite, error) {
	s := builtSite{Pages: map[string]builtPage{}, files: map[string]bool{}}
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

func pageOf(text string) builtPage {
	p := builtPage{ids: map[string]bool{}}
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

// wrong tells of each link that leads nowhere, and of each thing that is loaded from
// another host: who reads the site tells nobody else. Count is of the links within.
func (s builtSite) wrong() (wrong []string, count int) {
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
func (s builtSite) leads(from, to string) string {
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

// check holds the built site: each page of docs is there, each link within it leads to a
// page and a heading, and nothing is loaded from elsewhere.
func check(docs, folder string) error {
	s, err := readBuilt(folder)
	if err != nil {
		return err
	}
	wrong, links := s.wrong()
	pages := 0
	err = filepath.WalkDir(docs, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path == filepath.Join(docs, "site"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".md":
			return nil
		}
		at := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(path), docs), ".md") + ".html"
		if name := strings.TrimSuffix(at, "README.html"); name != at {
			at = name + "index.html"
		}
		pages++
		if _, there := s.Pages[at]; !there {
			wrong = append(wrong, path+" is not in the site")
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(wrong) > 0 {
		return fmt.Errorf("%d faults:\n%s", len(wrong), strings.Join(wrong, "\n"))
	}
	fmt.Printf("%d pages, %d links within the site, all lead somewhere; nothing is loaded from elsewhere\n", pages, links)
	return nil
}
