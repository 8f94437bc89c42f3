package stage

import (
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"time"

	"rollcall/local/capture"
	"rollcall/local/fakeslack"
	"rollcall/local/platform/lambdaruntime"
	"rollcall/local/platform/router"
	"rollcall/local/simaws"
	"rollcall/local/simaws/worldfile"
	"rollcall/shared/lambda"
	"rollcall/shared/spoke"
)

// Options say what to run.
type Options struct {
	// World is the path of the world file.
	World string
	// Root is what World is below, with all that it extends; nil for no such bound.
	Root *os.Root
	// Capture is played in place of a world: an account that stands still.
	Capture *capture.Capture
	// Template is the path of the synthesised template.
	Template string
	// Files, if any, are where Template and Rights are, in place of this machine's.
	Files fs.FS
	// Spokes are other accounts and regions, whose stacks are made of SpokeTemplate. Their
	// worlds are not described with endpoints.
	Spokes        []Spoke
	SpokeTemplate string
	// Relays are deployed at the start. With the template, RelayTemplate, the clusters that have
	// a private endpoint only answer nobody but their relays, here and in the spokes: else they
	// answer whom they would in the VPC.
	Relays        []spoke.Cluster
	RelayTemplate string
	// Binaries is the folder that holds <function>/bootstrap for each function
	// of the template, built for this machine. Without it no function runs:
	// a test then calls handlers itself.
	Binaries string
	// Programs, if any, are called as Go in place of binaries, by the folders' names.
	// All of the stage is then in this process, without ports: in a bubble of
	// testing/synctest its time passes at once while nobody works.
	Programs []lambda.Program
	// Still has a world whose time nothing moves but its Advance, on a stage without
	// ports, as with Programs.
	Still bool
	// At is the stage time to start at, in place of the world's own: what is
	// due in between happens first.
	At time.Time
	// Rate is how much faster than the wall clock the stage runs.
	Rate float64
	// Slow, if any, is how fast it runs while a function works, an event is on its
	// way or somebody holds Clock.Work. Stories and tests then hang far less on how
	// fast the machine is; what measures a load wants the straight line.
	Slow float64
	// Quiet stops rules, schedules and queues from waking functions.
	Quiet bool
	// Settings are put over the functions' environment.
	Settings map[string]string
	// Out takes the functions' logs; nil drops them.
	Out io.Writer
	// Log takes what goes wrong in the stage itself; nil drops it.
	Log *slog.Logger
	// Observe takes each finished invocation.
	Observe func(lambdaruntime.Invocation)
	// Answered takes what each call of AWS was answered with. It runs before the caller
	// has its answer.
	Answered func(out any, err error)
	// SlackToken is what Secrets Manager holds instead of the right token.
	SlackToken *string
	// TargetSecrets are what the secrets of targets besides Slack hold, by name.
	TargetSecrets map[string]string
	// Others are hosts besides AWS and Slack that functions reach, on a stage without ports.
	Others map[string]http.Handler
	// Slack are Slack's rate limits, in wall time; zero has none.
	Slack fakeslack.Limits
	// CallFaults go beside the world's own faults of calls.
	CallFaults []simaws.FaultRule
	// Rights is the path of a manifest of Kubernetes rights. The functions then
	// are in its group (kubernetesAccess=group), in place of having the access
	// policy, which leaves out some of what they can read.
	Rights string
	// Unlimited leaves out EC2's request buckets.
	Unlimited bool
	// Rivals call EC2 beside the functions, and take from the same buckets.
	Rivals []simaws.Rival
	// StageTimeouts has the functions' timeouts pass in stage time: a function of
	// 15 minutes then has a minute and a half on a stage that runs ten times as
	// fast as the clock. Without it they pass in wall time, as a function's own
	// work does.
	StageTimeouts bool
	// Room is what functions keep free before their timeout, of which they know in
	// wall time. It is left to them whole: with StageTimeouts what comes before it
	// passes in stage time, and the room itself in wall time.
	Room time.Duration
	// Change, if any, changes the world before it begins.
	Change func(*worldfile.File)
	// Meter, if any, counts what the calls of DynamoDB take.
	Meter *simaws.Meter
	// Sent, if any, takes each message that a queue took in.
	Sent func(queue, body string)
	// CPU holds functions to the share of a core that their memory gives them on
	// Lambda; nil gives them whole cores.
	CPU lambdaruntime.CPULimiter
	// Memory, if any, is each function's memory in MB, in place of the template's.
	Memory int
	// EventFaults goes over the world's own event faults.
	EventFaults func(router.Event) router.Fault
}

// LoadWorld reads the world's file.
func (o Options) LoadWorld() (*worldfile.File, error) {
	if o.Root != nil {
		return worldfile.LoadIn(o.Root, o.World)
	}
	return worldfile.Load(o.World)
}
