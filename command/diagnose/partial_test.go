package diagnose

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/google/go-cmp/cmp"

	"rollcall/command/caller"
	"rollcall/command/capture"
	"rollcall/command/capture/take"
	"rollcall/command/exit"
	"rollcall/command/result"
	"rollcall/command/subject"
	"rollcall/shared/checks/finding"
	"rollcall/stage/examine"
	"rollcall/stage/platform/wire"
	"rollcall/stage/reading"
	"rollcall/stage/simaws/world"
	"rollcall/stage/simaws/worldfile"
	"rollcall/tools/testfile"
	"rollcall/tools/testfull"
)

// TestPartialLooks takes away each kind of file of a capture, missing and refused, and each
// right of a live look, one at a time: the verdict stays, or loses certainty with what is
// missing named; it is never healthy where the full look is not, and has no certain cause
// that the full look does not have. With -v it prints the table.
//
// In make test three worlds are played: pods and volumes, Karpenter, and one node that
// did not join, so that the nodes, the pods, the pools and the path each decide in one. In
// make test-full all of the corpus is, which takes ten minutes on two cores: the gate plays
// every eighth world (ROLLCALL_WORLDS=eighth). ROLLCALL_WORLDS=a,b names others.
func TestPartialLooks(t *testing.T) {
	worlds := []string{"iam-cni-role-policies", "launch-policy-denied-nodeclaim", "zone-pod-unschedulable"}
	chosen := os.Getenv("ROLLCALL_WORLDS")
	every := map[string]int{"": 1, "all": 1, "eighth": 8}[chosen]
	if every == 0 {
		worlds = strings.Split(chosen, ",")
	} else if chosen == "all" || testfull.Asked() {
		files, err := filepath.Glob(filepath.Join(here(t), "..", "..", "stage", "worlds", "corpus", "*.yaml"))
		if err != nil || len(files) < 300 {
			t.Fatalf("%d worlds, %v", len(files), err)
		}
		worlds = nil
		for i, file := range files {
			if name := strings.TrimSuffix(filepath.Base(file), ".yaml"); name != "unseen" && i%every == 0 { // unseen is a list
				worlds = append(worlds, name)
			}
		}
	}
	// What is kept of each world's answers is small; a third of the time went into collecting it.
	const collect, most = 400, 4 << 30
	defer debug.SetGCPercent(debug.SetGCPercent(collect))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(most))
	var table partialTable
	t.Run("worlds", func(t *testing.T) {
		for _, name := range worlds {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := newPartial(t, filepath.Join(here(t), "..", "..", "stage", "worlds", "corpus", name+".yaml"), &table)
				p.withoutFiles(t)
				p.withoutRights(t)
			})
		}
	})
	t.Logf("\n%s", &table)
}

// The outcomes, the last three of which are faults. Harmless is what the contract of
// captures says of Karpenter's files where neither an instance nor a node names a NodePool:
// the API refuses a list before it looks whether there is such a kind. And the contract does
// not name the file of zones: most captures have none. Refused, it is missed.
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
		if i.Confidence == string(finding.Certain) && !finds(full, i) {
			return accused, fmt.Sprintf("%s: %s; the full look has %v", i.Cause, i.Title, causesOf(full))
		}
	}
	lost := less.Status() != full.Status()
	for _, i := range full.Incidents {
		lost = lost || i.Confidence != string(finding.Advice) && !slices.ContainsFunc(less.Incidents, func(o result.Incident) bool {
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
	file      string
	described *worldfile.File
	world     *world.World
	at        time.Time
	table     *partialTable
	// named reports whether an instance or a node names a NodePool.
	named bool
}

func newPartial(t *testing.T, file string, table *partialTable) *partial {
	t.Helper()
	described, err := worldfile.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	w, err := world.New(described, world.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	at := described.Time.Add(examine.Settled)
	w.Advance(at)
	return &partial{file: file, described: described, world: w, at: at, table: table}
}

func (p *partial) judge(t *testing.T, what string, full, less result.Result, missing ...string) {
	t.Helper()
	outcome, why := compare(full, less, missing...)
	if outcome == healthy && (!p.named && (strings.Contains(what, "nodepools") || strings.Contains(what, "nodeclaims")) || what == "ec2-describe-availability-zones missing") {
		outcome = harmless
	}
	if p.table.count(what, outcome); slices.Index(outcomes(), outcome) >= slices.Index(outcomes(), silent) {
		t.Errorf("%s: %s: %s: %s", filepath.Base(p.file), what, outcome, why)
	}
}

// withoutFiles takes away each kind of file of the world's capture.
func (p *partial) withoutFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "capture")
	p.take(t, dir)
	c, err := capture.Open(dir, p.at)
	if err != nil {
		t.Fatal(err)
	}
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
	served := subject.OfCapture(c)
	memory := newReplay(served, func(string, any) bool { return false })
	full := p.lookAt(t, c, memory.open())
	asked := memory.asked(c)
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		for _, refused := range []bool{false, true} {
			what := kind + map[bool]string{false: " missing", true: " refused"}[refused]
			less := c.Without(kinds[kind], refused)
			got := full
			if changed := asked.changed(c, less, kind); changed.any {
				got = p.lookAt(t, less, memory.with(subject.OfCapture(less), changed.call).open())
			}
			p.judge(t, what, full, got, kind, callOf(kind))
			if p.onDisk(what) {
				p.sameOnDisk(t, dir, what, kinds[kind], refused, got)
			}
		}
	}
	memory.unwritten(t)
}

func (p *partial) lookAt(t *testing.T, c *capture.Capture, served subject.Account) result.Result {
	t.Helper()
	r, err := lookAt(t.Context(), c, served, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (p *partial) open(t *testing.T, a reading.Account) subject.Account {
	t.Helper()
	served, err := a.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(served.Close)
	return served
}

// take takes the capture, at the time at which the world is diagnosed.
func (p *partial) take(t *testing.T, dir string) {
	t.Helper()
	served := p.open(t, reading.OfWorld(p.world, p.described))
	account := take.Account{Config: served.AWS, Kubernetes: take.ByToken(served.AWS, func(_ context.Context, c take.Cluster) (take.APIServer, error) {
		endpoint, ca, via, _ := served.Endpoints(c.Name)
		return take.APIServer{Endpoint: endpoint, CA: ca, Transport: via}, nil
	})}
	if _, err := take.Take(t.Context(), account, take.Options{Dir: dir, Instances: 50, Now: p.at}); err != nil {
		t.Fatal(err)
	}
}

// onDisk chooses what is played from a folder, too: other files of each world.
func (p *partial) onDisk(what string) bool {
	h := fnv.New32()
	fmt.Fprint(h, filepath.Base(p.file), what)
	const every = 100
	return h.Sum32()%every == 0
}

// sameOnDisk holds that what is played in memory is what the command finds in a folder that
// lacks the files.
func (p *partial) sameOnDisk(t *testing.T, dir, what string, names []string, refused bool, got result.Result) {
	t.Helper()
	less := filepath.Join(t.TempDir(), "less")
	if err := os.CopyFS(less, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.Remove(filepath.Join(less, name+".json")); err != nil {
			t.Fatal(err)
		}
	}
	if refused {
		refuse(t, less, names)
	}
	if diff := cmp.Diff(toldOf(t, less), got); diff != "" {
		t.Errorf("%s: %s (-folder +memory):\n%s", filepath.Base(p.file), what, diff)
	}
}

// refuse adds calls to those that errors.json has as refused.
func refuse(t *testing.T, dir string, names []string) {
	t.Helper()
	all := map[string]any{}
	if data, err := os.ReadFile(filepath.Join(dir, "errors.json")); err == nil {
		testfile.Parse(t, data, &all)
	}
	for _, name := range names {
		all[name] = map[string]string{"code": "AccessDenied", "message": "not authorized"}
	}
	data := testfile.JSON(t, all)
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
	if rest, is := strings.CutPrefix(kind, "arc-zonal-shift-"); is {
		service, words = "arc-zonal-shift", rest
	}
	call := service + ":"
	for word := range strings.SplitSeq(words, "-") {
		call += strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Replace(call, "ByVpc", "ByVPC", 1)
}

// withoutRights denies each right that a live look at the world uses.
func (p *partial) withoutRights(t *testing.T) {
	account, faults := reading.OfWorld(p.world, p.described), &oneDenied{used: map[string]bool{}}
	account.Faults = faults
	memory := newReplay(p.open(t, account), faults.denies)
	open := memory.open()
	look := func() (result.Result, error) {
		a := NewAccount(Live{At: p.at, All: true})
		a.now = func() time.Time { return p.at } // what is asked is the same each time
		a.AWS, a.Account = open.AWS, account.ID
		var err error
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
	for _, right := range faults.list() {
		faults.deny(right)
		less, err := look()
		if faults.refused() == 0 {
			t.Errorf("%s: %s was denied and not asked for", filepath.Base(p.file), right)
		}
		if err == nil {
			p.judge(t, right, full, less, strings.TrimSuffix(strings.Replace(right, "kubernetes:", "kubernetes: ", 1), "s"))
			continue
		}
		// Nothing can be looked at without the clusters.
		if p.table.count(right, doubted); !strings.Contains(err.Error(), right[strings.Index(right, ":")+1:]) {
			t.Errorf("%s: %s denied ends the look with %v, which does not name it", filepath.Base(p.file), right, err)
		}
	}
	memory.unwritten(t)
}

// oneDenied denies one right, and records which are used.
type oneDenied struct {
	mu     sync.Mutex
	denied string
	times  int
	used   map[string]bool
}

func (d *oneDenied) Before(_ context.Context, call *wire.Call) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.used[call.Action()] = true
	if call.Action() == d.denied {
		d.times++
		return wire.Denied
	}
	return nil
}

func (d *oneDenied) deny(right string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.denied, d.times = right, 0
}

// refused returns how often the right was denied.
func (d *oneDenied) refused() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.times
}

// denies reports whether a call is not to be replayed, by its operation or its path.
func (d *oneDenied) denies(call string, _ any) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, operation, _ := strings.Cut(d.denied, ":")
	if strings.HasPrefix(call, "/") {
		return strings.HasSuffix(operation, " "+pluralOf(call))
	}
	return call == operation
}

func (d *oneDenied) list() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.used))
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

// pluralOf is the kind that a path of the Kubernetes API is of: a list's, or one object's.
func pluralOf(path string) string {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	parts = parts[map[string]int{"api": 2, "apis": 3}[parts[0]]:]
	if parts[0] == "namespaces" {
		parts = parts[2:]
	}
	return parts[0]
}
