package take

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/autoscaling"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/iam"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"rollcall/local/platform/wire"
	"rollcall/shared/capture"
	"rollcall/shared/cloudtrail"
	"rollcall/shared/gather/ec2api"
)

// taker is one taking.
type taker struct {
	asked   Account
	options Options
	// dir is where the files go, and folder where they are written once it is open.
	dir     string
	folder  *folder
	printer *wire.Printer
	limits  *limits

	autoscaling *autoscaling.Client
	ec2         *ec2.Client
	eks         *eks.Client
	iam         *iam.Client
	sts         *sts.Client
	// early is what was answered before there was a folder, by the files' names.
	early map[string]answer
	// stop ends all calls: what was taken cannot be written.
	stop context.CancelFunc

	mu      sync.Mutex
	state   Progress
	kept    int
	refused map[string]Refusal
	leftOut []LeftOut
	notes   []string
	fatal   error
}

// staleAfter is how far apart two parts of a capture may be without a word: the join
// time that captures are read with.
const staleAfter = 5 * time.Minute

// answer is what a call answered.
type answer struct {
	tree map[string]any
	err  error
}

func newTaker(account Account, o Options, dir string) (*taker, error) {
	printer, err := wire.NewPrinter()
	if err != nil {
		return nil, fmt.Errorf("read the names of answers: %w", err)
	}
	if account.Config.HTTPClient == nil {
		account.Config.HTTPClient = awshttp.NewBuildableClient()
	}
	cfg := account.Config.Copy()
	cfg.APIOptions = append(cfg.APIOptions[:len(cfg.APIOptions):len(cfg.APIOptions)], keepBody)
	t := &taker{
		asked: account, options: o, dir: dir, printer: printer, limits: newLimits(), refused: map[string]Refusal{}, early: map[string]answer{},
		autoscaling: autoscaling.NewFromConfig(cfg), ec2: ec2api.NewEC2(cfg), eks: eks.NewFromConfig(cfg), iam: iam.NewFromConfig(cfg), sts: sts.NewFromConfig(cfg),
	}
	return t, nil
}

// open makes the folder ready.
func (t *taker) open() error {
	f, err := openFolder(t.dir, t.options.Resume)
	if err != nil {
		return err
	}
	t.folder = f
	began, err := f.began(t.options.Now)
	if err != nil {
		return err
	}
	if age := t.options.Now.Sub(began); age > staleAfter {
		t.note("the files are of two times, %s apart: what changed in between may look wrong", age.Round(time.Minute))
	}
	return nil
}

// ahead asks before there is a folder; take then has the answer.
func (t *taker) ahead(ctx context.Context, name string, ask func(context.Context) (map[string]any, error)) {
	tree, err := ask(ctx)
	t.early[name] = answer{tree, err}
}

func (t *taker) note(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.notes = append(t.notes, fmt.Sprintf(format, args...))
}

// leave tells what was not asked for, or not kept.
func (t *taker) leave(file, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leftOut = append(t.leftOut, LeftOut{File: file, Why: fmt.Sprintf(format, args...)})
}

func compareLeftOut(a, b LeftOut) int {
	return cmp.Or(strings.Compare(a.File, b.File), strings.Compare(a.Why, b.Why))
}

func (t *taker) summary() Summary {
	t.mu.Lock()
	defer t.mu.Unlock()
	return Summary{Progress: t.state, Kept: t.kept, Refused: t.refused, LeftOut: t.leftOut, Notes: t.notes}
}

// parallel does all of it at the same time, and waits.
func (t *taker) parallel(tasks ...func()) {
	var group sync.WaitGroup
	for _, task := range tasks {
		group.Go(task)
	}
	group.Wait()
}

// list does the same with each of a list, at the same time, and waits.
func list[T any](t *taker, items []T, task func(i int, item T)) {
	tasks := make([]func(), len(items))
	for i, item := range items {
		tasks[i] = func() { task(i, item) }
	}
	t.parallel(tasks...)
}

// take keeps what a call answers in a file, and gives it: nil if there is none. A file
// that is there from before is not asked for again.
func (t *taker) take(ctx context.Context, name string, ask func(context.Context) (map[string]any, error)) map[string]any {
	if tree := t.folder.kept(name); tree != nil {
		t.count(func() { t.kept++; t.state.Files++ })
		return tree
	}
	if ctx.Err() != nil {
		return nil
	}
	a, asked := t.early[name]
	if !asked {
		a.tree, a.err = ask(ctx)
	}
	tree, err := a.tree, a.err
	switch {
	case ctx.Err() != nil:
		return nil
	case errors.Is(err, errTooLarge):
		t.leave(name, "%v", err)
		return nil
	case err != nil:
		r := capture.RefusalOf(err)
		t.count(func() { t.refused[name] = r; t.state.Refused++ })
		return nil
	}
	if err := t.folder.put(name, tree); err != nil {
		t.fail(err)
		return nil
	}
	t.count(func() { t.state.Files++ })
	return tree
}

func (t *taker) count(add func()) {
	t.mu.Lock()
	add()
	state := t.state
	t.mu.Unlock()
	if t.options.Progress != nil {
		t.options.Progress(state)
	}
}

// fail ends the taking.
func (t *taker) fail(err error) {
	t.mu.Lock()
	if t.fatal == nil {
		t.fatal = err
	}
	t.mu.Unlock()
	t.stop()
}

func (t *taker) failed() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.fatal
}

// trails is CloudTrail, whose answer goes to keep as it came.
func (t *taker) trails(keep func([]byte)) *cloudtrail.Client {
	cfg := t.asked.Config.Copy()
	cfg.APIOptions = append(cfg.APIOptions[:len(cfg.APIOptions):len(cfg.APIOptions)], bodyTo(keep))
	return cloudtrail.New(cfg)
}

// None tells the codes that say that there is nothing of the kind, or that it does not
// apply (the contract of captures). Any other code leaves it unknown.
func None(code string) bool {
	switch code {
	case "ResourceNotFoundException", "NoSuchEntity", "InvalidRequestException", "NotFound":
		return true
	}
	return false
}
