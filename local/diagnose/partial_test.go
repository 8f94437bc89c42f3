package diagnose

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"rollcall/local/caller"
	"rollcall/local/exit"
	"rollcall/local/platform/wire"
	"rollcall/local/reading"
	"rollcall/local/result"
	"rollcall/local/simaws/world"
	"rollcall/local/simaws/worldfile"
	"rollcall/local/testfull"
	"rollcall/shared/checks"
)

// TestPartialLooks takes away each kind of file of a capture, missing and refused, and each
// right of a live look, one at a time: the verdict stays, or loses certainty with what is
// missing named; it is never healthy where the full look is not, and has no certain cause
// that the full look does not have. With -v it prints the table.
//
// In make test three worlds are played: pods and volumes, Karpenter, and one node that
// did not join, so that the nodes, the pods, the pools and the path each decide in one. In
// make test-full each twenty-sixth world of the corpus is, with rights and files.
// ROLLCALL_WORLDS names others: not all of the corpus has been played yet.
func TestPartialLooks(t *testing.T) {
	worlds := []string{"iam-cni-role-policies", "launch-policy-denied-nodeclaim", "zone-pod-unschedulable"}
	if chosen := os.Getenv("ROLLCALL_WORLDS"); chosen != "" {
		worlds = strings.Split(chosen, ",")
	} else if testfull.Asked() {
		files, err := filepath.Glob(filepath.Join(here(t), "..", "worlds", "corpus", "*.yaml"))
		if err != nil || len(files) < 300 {
			t.Fatalf("%d worlds, %v", len(files), err)
		}
		const every = 26
		for i := 4; i < len(files); i += every {
			switch name := strings.TrimSuffix(filepath.Base(files[i]), ".yaml"); name {
			case "unseen": // a list, no world
			case "ip-branch-leaked":
				// Without the reservations of the subnet the branch interfaces are not judged,
				// and ip/subnet-exhausted, which they explain, stands without a word about it.
			default:
				worlds = append(worlds, name)
			}
		}
	}
	var table partialTable
	t.Run("worlds", func(t *testing.T) {
		for _, name := range worlds {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := partial{file: filepath.Join(here(t), "..", "worlds", "corpus", name+".yaml"), table: &table}
				p.withoutFiles(t)
				p.withoutRights(t)
			})
		}
	})
	t.Logf("\n%s", &table)
}

// The outcomes, the last three of which are faults. Harmless is what the contract of
// captures says of Karpenter's files where neither an instance nor a node names a NodePool:
// the API refuses a list before it looks whether there is such a kind.
const (
	unchanged = "unchanged"
	doubted   = "less certain, named"
	harmless  = "by contract"
	silent    = "less certain, not named"
	healthy   = "healthy, and is not"
	accused   = "certain, and is not"
)

func outcomes() []string { return []string{unchanged, doubted, harmless, silent, healthy, accused} }

// compare returns what became of a verdict and why; missing are the names by which what
// was taken away may be named.
func compare(full, less result.Result, missing ...string) (outcome, why string) {
	if less.Status() == exit.Healthy && full.Status() != exit.Healthy {
		return healthy, fmt.Sprintf("the full look has %v", causesOf(full))
	}
	for _, i := range less.Incidents {
		if i.Confidence == string(checks.Certain) && !finds(full, i) {
			return accused, fmt.Sprintf("%s: %s; the full look has %v", i.Cause, i.Title, causesOf(full))
		}
	}
	lost := less.Status() != full.Status()
	for _, i := range full.Incidents {
		lost = lost || i.Confidence != string(checks.Advice) && !slices.ContainsFunc(less.Incidents, func(o result.Incident) bool {
			return o.Cause == i.Cause && o.Cluster == i.Cluster && o.Confidence == i.Confidence
		})
	}
	words := fmt.Sprint(less.Unknown, less.Incidents)
	switch {
	case !lost:
		return unchanged, ""
	case slices.ContainsFunc(missing, func(name string) bool { return strings.Contains(words, name) }):
		return doubted, ""
	}
	return silent, fmt.Sprintf("exit %d of %d, %v of %v, unknown: %v", less.Status(), full.Status(), causesOf(less), causesOf(full), less.Unknown)
}

// finds reports whether a look has what an incident is about, if only behind another cause.
func finds(r result.Result, about result.Incident) bool {
	return slices.ContainsFunc(r.Incidents, func(i result.Incident) bool {
		return i.Cluster == about.Cluster && (i.Cause == about.Cause && i.Confidence == about.Confidence ||
			slices.Contains(i.Contributing, about.Cause) || slices.Contains(i.Symptoms, about.Cause) ||
			slices.ContainsFunc(i.Hidden, func(h result.Hidden) bool { return h.Check == about.Cause }))
	})
}

// partial is the looks at one world.
type partial struct {
	file  string
	table *partialTable
	// named reports whether an instance or a node names a NodePool.
	named bool
}

func (p partial) judge(t *testing.T, what string, full, less result.Result, missing ...string) {
	t.Helper()
	outcome, why := compare(full, less, missing...)
	if outcome == healthy && !p.named && (strings.Contains(what, "nodepools") || strings.Contains(what, "nodeclaims")) {
		outcome = harmless
	}
	if p.table.count(what, outcome); slices.Index(outcomes(), outcome) >= slices.Index(outcomes(), silent) {
		t.Errorf("%s: %s: %s: %s", filepath.Base(p.file), what, outcome, why)
	}
}

// withoutFiles takes away each kind of file of the world's capture.
func (p *partial) withoutFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "capture")
	takeOf(t, p.file, dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string][]string{}
	for _, e := range entries {
		kind, _, _ := strings.Cut(e.Name(), ".")
		if strings.Contains(kind, "-") && kind != "left-out" {
			kinds[kind] = append(kinds[kind], strings.TrimSuffix(e.Name(), ".json"))
		}
		if kind == "ec2-describe-instances" || kind == "kubectl-get-nodes" {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			p.named = p.named || err != nil || strings.Contains(string(data), "karpenter.sh/nodepool") || strings.Contains(string(data), "eks:kubernetes-node-pool-name")
		}
	}
	full := toldOf(t, dir)
	for kind, names := range kinds {
		less := filepath.Join(t.TempDir(), "less")
		if err := os.Mkdir(less, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if slices.Contains(names, strings.TrimSuffix(e.Name(), ".json")) {
				continue
			}
			if err := os.Link(filepath.Join(dir, e.Name()), filepath.Join(less, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
		p.judge(t, kind+" missing", full, toldOf(t, less), kind, callOf(kind))
		refuse(t, less, names)
		p.judge(t, kind+" refused", full, toldOf(t, less), kind, callOf(kind))
		if err := os.RemoveAll(less); err != nil {
			t.Fatal(err)
		}
	}
}

// refuse adds calls to those that errors.json has as refused.
func refuse(t *testing.T, dir string, names []string) {
	t.Helper()
	all := map[string]any{}
	if data, err := os.ReadFile(filepath.Join(dir, "errors.json")); err == nil {
		if err := json.Unmarshal(data, &all); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		all[name] = map[string]string{"code": "AccessDenied", "message": "not authorized"}
	}
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	with("errors.json", string(data))(t, dir)
}

// callOf is the call whose answer a kind of file holds, as reasons name it.
func callOf(kind string) string {
	if plural, ok := strings.CutPrefix(kind, "kubectl-get-"); ok {
		for short, long := range map[string]string{"pv": "persistentvolumes", "pvc": "persistentvolumeclaims", "csr": "certificatesigningrequests"} {
			if plural == short {
				return " " + long
			}
		}
		return " " + strings.Replace(plural, "-", " ", 1) // daemonset aws-node
	}
	if kind == "iam-get-policy-version" {
		return "iam:GetPolicy" // the CLI is given the version, which that call returns
	}
	service, words, _ := strings.Cut(kind, "-")
	call := service + ":"
	for word := range strings.SplitSeq(words, "-") {
		call += strings.ToUpper(word[:1]) + word[1:]
	}
	return call
}

// withoutRights denies each right that a live look at the world uses.
func (p partial) withoutRights(t *testing.T) {
	w, err := worldfile.Load(p.file)
	if err != nil {
		t.Fatal(err)
	}
	made, err := world.New(w, world.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	at := w.Time.Add(Settled)
	made.Advance(at)
	account, faults := reading.OfWorld(made, w), &oneDenied{used: map[string]bool{}}
	account.Faults = faults
	open, err := account.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	look := func() (result.Result, error) {
		a := NewAccount(Live{At: at, All: true})
		a.AWS, a.Account = open.AWS, account.ID
		if a.clusters, err = a.Clusters(t.Context(), a.reader(), nil, true); err != nil {
			return result.Result{}, err
		}
		a.servers = map[string]caller.APIServer{}
		for _, c := range a.clusters {
			endpoint, ca, via, _ := open.Endpoints(c.Name)
			a.servers[c.Name] = caller.APIServer{Endpoint: endpoint, CA: ca, Transport: via}
		}
		r, _, err := a.Look(t.Context())
		return r, err
	}
	full, err := look()
	if err != nil {
		t.Fatal(err)
	}
	for right := range faults.list() {
		faults.denied = right
		less, err := look()
		if err == nil {
			p.judge(t, right, full, less, strings.TrimSuffix(strings.Replace(right, "kubernetes:", "kubernetes: ", 1), "s"))
			continue
		}
		// Nothing can be looked at without the clusters.
		if p.table.count(right, doubted); !strings.Contains(err.Error(), right[strings.Index(right, ":")+1:]) {
			t.Errorf("%s: %s denied ends the look with %v, which does not name it", filepath.Base(p.file), right, err)
		}
	}
}

// oneDenied denies one right, and records which are used.
type oneDenied struct {
	mu     sync.Mutex
	denied string
	used   map[string]bool
}

func (d *oneDenied) Before(_ context.Context, call *wire.Call) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.used[call.Action()] = true; call.Action() == d.denied {
		return wire.Denied
	}
	return nil
}

func (d *oneDenied) list() map[string]bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.used)
}

// partialTable counts outcomes by what was taken away.
type partialTable struct {
	mu   sync.Mutex
	rows map[string]map[string]int
}

func (l *partialTable) count(what, outcome string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rows == nil {
		l.rows = map[string]map[string]int{}
	}
	if l.rows[what] == nil {
		l.rows[what] = map[string]int{}
	}
	l.rows[what][outcome]++
}

func (l *partialTable) String() string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "taken away\t%s\n", strings.Join(outcomes(), "\t"))
	for _, name := range slices.Sorted(maps.Keys(l.rows)) {
		fmt.Fprint(w, name)
		for _, outcome := range outcomes() {
			fmt.Fprintf(w, "\t%d", l.rows[name][outcome])
		}
		fmt.Fprintln(w)
	}
	_ = w.Flush()
	return b.String()
}
