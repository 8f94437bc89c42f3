package main

import (
	"os"
	"path/filepath"
	"testing"

	"rollcall/tools/testfile"

	"github.com/google/go-cmp/cmp"
)

func TestWrong(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"index.html": `<h2 id="top">a</h2><a class="x" href="/checks/a.html#fix">ok</a> <a href="./checks/">ok</a> <a href="#top">ok</a> <a href="https://aws.amazon.com/x">ok</a>
			<a href="/gone.html">bad</a> <a href="/checks/a.html#no">bad</a><link rel="stylesheet" href="/assets/style.css"><script src="https://cdn.example/x.js"></script>`,
		"checks/index.html": `<a href="a.html">ok</a><img src="../picture.png" alt="">`,
		"checks/a.html":     `<h2 id="fix">b</h2><a href="../index.html#none">bad</a>`,
		"assets/style.css":  `@font-face{src:url(https://fonts.example/f.woff2)} a{background:url("data:image/svg+xml,x")}`,
	} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		testfile.Write(t, file, []byte(text))
	}
	s, err := readBuilt(dir)
	if err != nil {
		t.Fatal(err)
	}
	wrong, count := s.wrong()
	want := []string{
		"/assets/style.css loads https://fonts.example/f.woff2 from elsewhere",
		"/checks/a.html links to ../index.html#none: the page has no such heading",
		"/checks/index.html loads ../picture.png: there is no such file",
		"/index.html links to /checks/a.html#no: the page has no such heading",
		"/index.html links to /gone.html: there is no such file",
		"/index.html loads https://cdn.example/x.js from elsewhere",
	}
	if diff := cmp.Diff(want, wrong); diff != "" || count != 7 {
		t.Errorf("%d links, wrong (-want +got):\n%s", count, diff)
	}
}
