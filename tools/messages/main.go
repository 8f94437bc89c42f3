// Command messages keeps the lists of messages that the programs on a join's path can
// print, out of their own sources: see docs/messages.md.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
)

const usage = `Keeps the lists of messages that programs can print. Run it at the repository's root.

  go run ./tools/messages walk [-write]                walk the pinned modules; fail where the lists differ
  go run ./tools/messages walk -new module@version     print what another version adds
  go run ./tools/messages open                         print the messages that no row and no rule knows
  go run ./tools/messages draw -seed 1 [-n 100]        draw from nothing and healthy, with their source

Modules come from the Go module proxy, by the go command.

`

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(os.Stderr, usage)
			os.Exit(2)
		}
		fmt.Fprintln(os.Stderr, "messages:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) == 0 {
		return flag.ErrHelp
	}
	flags := flag.NewFlagSet("messages", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	write := flags.Bool("write", false, "")
	other := flags.String("new", "", "")
	seed := flags.Uint64("seed", 1, "")
	n := flags.Int("n", 100, "")
	if flags.Parse(args[1:]) != nil || flags.NArg() > 0 {
		return flag.ErrHelp
	}
	if args[0] == "walk" && *other != "" {
		return printNew(*other, out)
	}
	all, err := walkAll()
	if err != nil {
		return err
	}
	switch {
	case args[0] == "walk" && *write:
		return writeLists(".", all)
	case args[0] == "walk":
		return compare(".", all, out)
	case args[0] == "open":
		return printOpen(all, out)
	case args[0] == "draw":
		return draw(all, *seed, *n, out)
	}
	return flag.ErrHelp
}

// classed is a message with its class.
type classed struct {
	message
	class class
}

// listed are the messages of one program.
type listed struct {
	program
	messages []classed
	dir      string
}

// walkAll walks every program, two at a time.
func walkAll() ([]listed, error) {
	all := make([]listed, 0, len(programs())+len(services()))
	for _, p := range programs() {
		all = append(all, listed{program: p})
	}
	for _, s := range services() {
		all = append(all, listed{program: s})
	}
	var g errgroup.Group
	g.SetLimit(2)
	for i := range all {
		g.Go(func() error {
			l, err := walkOne(all[i].program)
			all[i] = l
			return err
		})
	}
	return all, g.Wait()
}

func walkOne(p program) (listed, error) {
	l := listed{program: p}
	if p.module == "" {
		found, err := documented()
		l.messages = classAll(p, found)
		return l, err
	}
	dir, err := download(p.module, p.version)
	if err != nil {
		return l, fmt.Errorf("%s: %w", p.name, err)
	}
	l.dir = dir
	walkFn := walk
	if p.line == codeForm {
		walkFn = walkCodes
	}
	found, err := walkFn(dir, p)
	if err != nil {
		return l, err
	}
	l.messages = classAll(p, found)
	return l, nil
}

func classAll(p program, found []message) []classed {
	list, c := make([]classed, len(found)), newClassifier()
	for i, m := range found {
		list[i] = classed{m, c.classify(p, m)}
	}
	return list
}

// download returns the folder of a module; the go command holds it against its checksum.
func download(module, version string) (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", module+"@"+version)
	cmd.Dir = os.TempDir() // of no module of its own
	said, err := cmd.Output()
	var m struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(said, &m); jsonErr != nil {
		return "", errors.Join(fmt.Errorf("go mod download %s@%s", module, version), err, jsonErr)
	}
	if m.Error != "" {
		return "", fmt.Errorf("go mod download: %s", m.Error)
	}
	return m.Dir, nil
}

// slug is a program's file in lists.
func (p program) slug() string {
	return strings.ReplaceAll(strings.ToLower(strings.ReplaceAll(p.name, "'", "")), " ", "-") + ".txt"
}

const lists = "tools/messages/lists"

// text is a program's list: a line for each message, below its package.
func (l listed) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s | %s %s\n", l.name, l.module, l.version)
	pkg := ""
	for _, m := range l.messages {
		if m.pkg != pkg {
			pkg = m.pkg
			fmt.Fprintf(&b, "@ %s\n", pkg)
		}
		fmt.Fprintf(&b, "%s %s %s %s %s\n", m.fn, m.kind, m.level, m.hash(), m.class)
	}
	return b.String()
}

// read reads a list; the messages have no words.
func read(root string, p program) (listed, error) {
	l := listed{program: p}
	raw, err := os.ReadFile(filepath.Join(root, lists, p.slug()))
	if err != nil {
		return l, err
	}
	pkg := ""
	for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		switch fields := strings.Fields(line); {
		case i == 0:
			if want := fmt.Sprintf("# %s | %s %s", p.name, p.module, p.version); line != want {
				return l, fmt.Errorf("%s begins with %q, want %q", p.slug(), line, want)
			}
		case len(fields) == 2 && fields[0] == "@":
			pkg = fields[1]
		case len(fields) == 5:
			l.messages = append(l.messages, classed{message{pkg: pkg, fn: fields[0], kind: kind(fields[1]), level: fields[2], at: fields[3]}, class(fields[4])})
		default:
			return l, fmt.Errorf("%s line %d: %q is no reference", p.slug(), i+1, line)
		}
	}
	return l, nil
}

func writeLists(root string, all []listed) error {
	for _, l := range all {
		if err := os.WriteFile(filepath.Join(root, lists, l.slug()), []byte(l.text()), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(root, "docs/messages.md"), []byte(page(all)), 0o644)
}

// errDiffers is returned where the sources and the lists are not the same.
var errDiffers = errors.New("the lists are not what the sources and rules say: go run ./tools/messages walk -write, and give new messages a row or a rule")

// compare holds the lists against the sources, and prints what is in no list.
func compare(root string, all []listed, out io.Writer) error {
	differs := false
	for _, l := range all {
		raw, err := os.ReadFile(filepath.Join(root, lists, l.slug()))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		if string(raw) == l.text() {
			continue
		}
		differs = true
		fmt.Fprintf(out, "%s %s:\n", l.name, l.version)
		have := strings.Split(string(raw), "\n")
		for _, m := range l.messages {
			if !slices.Contains(have, fmt.Sprintf("%s %s %s %s %s", m.fn, m.kind, m.level, m.hash(), m.class)) {
				fmt.Fprintf(out, "  not listed so: %-8s %s %s: %s\n", m.class, m.at, m.fn, m.words)
			}
		}
	}
	if differs {
		return errDiffers
	}
	fmt.Fprintln(out, "every message is in its list")
	return nil
}

// printNew prints what another version of a module prints that its pinned one does not.
func printNew(moduleVersion string, out io.Writer) error {
	module, version, ok := strings.Cut(moduleVersion, "@")
	if !ok {
		return flag.ErrHelp
	}
	found := false
	for _, p := range slices.Concat(programs(), services()) {
		if p.module != module {
			continue
		}
		found = true
		before, err := walkOne(p)
		if err != nil {
			return err
		}
		p.version = version
		after, err := walkOne(p)
		if err != nil {
			return err
		}
		added, gone := without(after.messages, before.messages), without(before.messages, after.messages)
		fmt.Fprintf(out, "%s %s: %d new, %d gone\n", p.name, version, len(added), len(gone))
		for _, m := range added {
			fmt.Fprintf(out, "  + %-8s %s %s: %s\n", m.class, m.at, m.fn, m.words)
		}
	}
	if !found {
		return fmt.Errorf("%s is walked for no program", module)
	}
	return nil
}

// without returns the messages whose words b does not have in the same package.
func without(a, b []classed) []classed {
	have := map[string]bool{}
	for _, m := range b {
		have[m.pkg+" "+m.words] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(m classed) bool { return have[m.pkg+" "+m.words] })
}

func printOpen(all []listed, out io.Writer) error {
	for _, l := range all {
		for _, m := range l.messages {
			if m.class == classOpen {
				fmt.Fprintf(out, "%s | %s %s | %s %s | %s\n", l.name, m.at, m.fn, m.kind, m.level, m.words)
			}
		}
	}
	return nil
}

// draw prints messages of nothing and of healthy at random, with the lines around the
// call that prints them.
func draw(all []listed, seed uint64, n int, out io.Writer) error {
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, k := range []class{classNothing, classHealthy} {
		type drawn struct {
			l listed
			m classed
		}
		var pool []drawn
		for _, l := range all {
			for _, m := range l.messages {
				if m.class.kind() == k {
					pool = append(pool, drawn{l, m})
				}
			}
		}
		rng.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
		for i, d := range pool[:min(n, len(pool))] {
			fmt.Fprintf(out, "--- %s %d: %s | %s %s %s | %s %s | %s\n%s", k, i+1, d.m.class, d.l.name, d.m.at, d.m.fn, d.m.kind, d.m.level, d.m.words, around(d.l.dir, d.m.at))
		}
	}
	return nil
}

// around are the lines of source around a place.
func around(dir, at string) string {
	file, number, ok := strings.Cut(at, ":")
	line, err := strconv.Atoi(number)
	if !ok || err != nil || dir == "" {
		return ""
	}
	raw, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return err.Error() + "\n"
	}
	source := strings.Split(string(raw), "\n")
	return strings.Join(source[max(0, line-5):min(len(source), line+2)], "\n") + "\n"
}
