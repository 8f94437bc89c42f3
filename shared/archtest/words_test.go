package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestStandardTerms: comments, log messages and names use the terms of the field, so that
// they can be searched for. Texts for users are not its subject.
func TestStandardTerms(t *testing.T) {
	root := filepath.Join("..", "..")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (slices.Contains([]string{"testdata", "node_modules", "build"}, d.Name()) || d.Name()[0] == '.'):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		files++
		for _, found := range unclear(t, path, nil) {
			t.Errorf("%s: %s", path, found)
		}
		return nil
	})
	if err != nil || files < 500 {
		t.Errorf("looked at %d files: %v", files, err)
	}
}

// unclear lists what a file says in other words than the field's: what a component does is
// to report, return, post or publish, and a name is a noun or a verb.
func unclear(t *testing.T, path string, src any) []string {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	words := regexp.MustCompile(`(?i)\b(tells (that|whether)|(is|are) told|no` + `body|some` + `body|whose it is)\b`)
	var found []string
	name := func(id *ast.Ident, method bool) {
		list := []string{"told", "says", "of", "had"}
		if method {
			list = append(list, "in", "at", "is", "about")
		}
		if slices.Contains(list, strings.ToLower(id.Name)) {
			found = append(found, "name "+id.Name)
		}
	}
	for _, group := range file.Comments {
		for _, said := range words.FindAllString(strings.Join(strings.Fields(group.Text()), " "), -1) {
			found = append(found, "comment "+said)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			name(n.Name, n.Recv != nil)
		case *ast.InterfaceType:
			for _, m := range n.Methods.List {
				for _, id := range m.Names {
					name(id, true)
				}
			}
		case *ast.CallExpr:
			s, ok := n.Fun.(*ast.SelectorExpr)
			if !ok || strings.HasSuffix(path, "_test.go") || !slices.Contains([]string{"Debug", "Info", "Warn", "Error"}, strings.TrimSuffix(s.Sel.Name, "Context")) {
				return true
			}
			message := 0
			if strings.HasSuffix(s.Sel.Name, "Context") {
				message = 1 // the context comes first
			}
			if len(n.Args) <= message {
				return true
			}
			if l, ok := n.Args[message].(*ast.BasicLit); ok && words.MatchString(l.Value) {
				found = append(found, "log "+l.Value)
			}
		}
		return true
	})
	return found
}

// TestTextsForPeople: messages, pages and the texts in the code have none of the phrases that
// were translated word for word: the reader's own words were found for each.
func TestTextsForPeople(t *testing.T) {
	root, files := filepath.Join("..", ".."), 0
	check := func(path, text string) {
		if found := translated(text); found != "" {
			t.Errorf("%s: %q", path, found)
		}
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		ext := filepath.Ext(path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (slices.Contains([]string{"node_modules", "build", "release"}, d.Name()) || d.Name()[0] == '.'):
			return filepath.SkipDir // stage/release has the messages of the format's first day
		case d.IsDir() || strings.HasSuffix(path, "_test.go") || !slices.Contains([]string{".go", ".md", ".txt", ".golden", ".yaml"}, ext):
			return nil
		}
		files++
		raw, err := os.ReadFile(path)
		if err != nil || ext != ".go" {
			check(path, string(raw))
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, raw, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
				check(path, l.Value)
			}
			return true
		})
		return nil
	})
	if err != nil || files < 500 {
		t.Errorf("looked at %d files: %v", files, err)
	}
	for text, want := range map[string]string{
		"✅ prod · joined again after 10 min": "joined again", "the role lets Rollcall in again": "lets Rollcall in", "Could not look": "Could not look",
		"sg-1 lets out no 443": "lets out", "the cluster was made anew": "made anew", "the Spot organisation": "organisation", "a new node is Ready": "",
	} {
		if got := translated(text); got != want {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
	}
}

// translated returns the first of the phrases that are in a text; empty for none.
func translated(text string) string {
	phrases := []string{
		"joined again", "called well", "lets Rollcall in", "let Rollcall in", "does not let it", "lets out", "Let it through", "Admit 443", "nothing more for crossing",
		"as long as it stays so", "no node for it there", "deletes none of them", "the oldest made", "; it was a warning", "gets no nodes", "fits no other",
		"Give what is launched", "Else change", "Give the subnets the tags", "which has its own message", "no longer pressing", "those that came last",
		"take fewer addresses at start", "points at its pool", "took them back", "took back none", "joined not ", "what was read then", "when it is all gone",
		"what changed before", "could be asked for", "say that you are one", "Nothing more is said", "tell nothing of it", "looked at within the last",
		"who launches lacks", "costs more than it may", "its placement does not take", "the reason is in the text", "Read the text", "the text is not known",
		"does not go with", "aws-node may not", "Make what is missing", "Or lead ", "made anew", "made it anew", "for those to come", "Wait for the mail",
		"else write to AWS", ": not your settings", "Could not look", "could not look at", "cannot look at", "cannot look into", "which region?",
		"what is to be looked at?", "what is planned?", "there are no AWS credentials", "tells more", "tells each", "has time left", "written nothing to its console",
		"Read as a ", "how a fault shows", "Look for what is behind", "is taken by the workspace", "lets in who", "Tell whether", "that hurt longest",
		"a part that no other has", "at most so many", "without it one page", "by this context of", "helped by", "of what was asked for is not", "All of it was seen",
		"Rollcall's own hand", "would not have tried again", "show nothing new.", "may not, and is told", "None rings", "are told in Slack", "words of before",
		"what looks are", "taken for well", "by the script of before", "no harm: the incident", "Rollcall is blind and", "organisation", "initialised", "recognise",
		"authorise", "no such folder or file below", "has a name that could not",
	}
	if i := slices.IndexFunc(phrases, func(p string) bool { return strings.Contains(text, p) }); i >= 0 {
		return phrases[i]
	}
	return ""
}

func TestUnclearFindsIt(t *testing.T) {
	got := unclear(t, "x.go", `package x

// f tells
// whether it is so. No`+`body waits.
func f() { log.WarnContext(ctx, "the caller is told"); log.Info("ok", "is told") }

func of() {}
func in() {}

type t interface{ At() }

func (t) Is() { print("is told") }
`)
	want := []string{"comment tells whether", "comment No" + "body", `log "the caller is told"`, "name of", "name At", "name Is"}
	if !slices.Equal(got, want) {
		t.Errorf("unclear = %q, want %q", got, want)
	}
}
