// Command check looks at the built site: that each page of docs/ is there, that each link
// within it leads to a page and a heading, and that nothing is loaded from elsewhere.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"rollcall/tools/site/built"
)

func main() {
	folder := "build/site"
	if len(os.Args) > 1 {
		folder = os.Args[1]
	}
	if err := check("docs", folder); err != nil {
		fmt.Fprintln(os.Stderr, "site/check:", err)
		os.Exit(1)
	}
}

func check(docs, folder string) error {
	s, err := built.Read(folder)
	if err != nil {
		return err
	}
	wrong, links := s.Wrong()
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
