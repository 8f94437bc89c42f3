// Package report is what is reported: the messages on the results queue, by
// detectors (Observation, Summary), people (Press), remedies (Proposal,
// RemedyResult) and the look at CloudTrail (Changes). It knows nothing of incidents
// but their Key.
package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"rollcall/shared/checkid"
	"rollcall/shared/diagnosis"
	"rollcall/shared/remedy"
	"rollcall/shared/remedy/optin"
	"rollcall/shared/silence"
	"rollcall/shared/snapshot"
	"rollcall/shared/spoke"
)

// Observation is what a detector saw of one cluster at one time: the body of
// a message on the results queue. Detectors never talk to Slack.
type Observation struct {
	// Format is the version of this type; a newer one than ours is refused
	// and waits in the dead-letter queue for the deployment that knows it.
	Format  int       `json:"format"`
	ID      string    `json:"id"`
	By      string    `json:"by"` // the function
	At      time.Time `json:"at"`
	Account string    `json:"account"`
	Region  string    `json:"region"`
	// Partition is "aws", "aws-cn" or "aws-us-gov".
	Partition string `json:"partition"`
	Cluster   string `json:"cluster"`
	// Spoke is whose the cluster is, as the hub sees it, and Whose the name that people
	// know that by. Report knows them; on the queue the account and region say it.
	Spoke spoke.ID `json:"-"`
	Whose string   `json:"-"`

	// Diagnosis is what the checks said.
	Diagnosis diagnosis.Diagnosis `json:"diagnosis"`
	// Launches are the launches looked at, and how each stands now.
	Launches []Launch `json:"launches,omitempty"`
	// Facts is what a person would look up next, in the thread: the
	// nodegroup's status, the scaling activity, what could not be seen.
	Facts []Fact `json:"facts,omitempty"`
	// Blind are the sources that could not be read, whichever check needed them.
	Blind []snapshot.Failure `json:"blind,omitempty"`
	// Read are the sources that were read in full: the proof that a missing
	// permission is there now. That nothing is said of a source is no proof.
	Read []snapshot.Source `json:"read,omitempty"`
	// Absent are subnets and instances that were asked for, by a source that
	// was read in full, and do not exist any more.
	Absent []string `json:"absent,omitempty"`
	// Charts are pictures for messages about the subnets that they are of.
	Charts []Chart `json:"charts,omitempty"`
	// Tags are those of the nodegroups that causes and launches name, by nodegroup.
	Tags map[string]map[string]string `json:"tags,omitempty"`
	// Tagged is what else has labels and tags that may name an owner, nearest first.
	Tagged []Tagged `json:"tagged,omitempty"`
	// Logs is where the cluster's control plane logs; zero where it does not.
	Logs Logs `json:"logs,omitzero"`
	// Capacity is what the groups that causes and launches name want and have. A group of
	// which that could not be read, or not be counted, is not among them.
	Capacity []Capacity `json:"capacity,omitempty"`
	// Waiting is what waits in the cluster for a node, or on one for an address; nil where
	// this look was not to read pods.
	Waiting *WaitingPods `json:"waiting,omitempty"`
	// Sweep is set on the observations of a sweep. They come for every
	// watched cluster even when nothing is wrong: time passes with them.
	Sweep bool `json:"sweep,omitempty"`
	// ClusterGone reports whether EKS was asked for the cluster by its name, and answered
	// that it has none (DescribeCluster, ResourceNotFoundException): neither a list
	// that lacks it nor a refusal says so.
	ClusterGone bool `json:"clusterGone,omitempty"`
	// Evidence is the key under which what was read is kept, if it is; it may not be
	// there yet, or could not be written.
	Evidence string `json:"evidence,omitempty"`
}

// Format is the version of Observation that this code writes and reads.
const Format = 1

// AssumeRole is the call by which the hub becomes a spoke's role; what could not be looked
// at for want of it is all of a spoke.
const AssumeRole = "sts:AssumeRole"

// KubernetesAPI stands for the Kubernetes API of a cluster where it does not respond: what
// is asked of it fails together, and is one fault.
const KubernetesAPI = "kubernetes"

// NoCleaner is the code of a delete that was not sent, as a spoke's role cleaner does not
// let the hub in: of all codes of failures the one that is not a service's.
const NoCleaner = "RoleNotAssumed"

// formatOf is the format of a message of a spoke, where the hub's own have another: a
// release that knows no spokes would take it for one about the hub's own cluster of that
// name, and refuses what is of a newer format.
func formatOf(of spoke.ID, hubs int) int {
	if of.Hub() {
		return hubs
	}
	return hubs + 1
}

// For is an observation of a spoke's cluster, as it is sent.
func (obs Observation) For(of spoke.ID) Observation {
	obs.Format = formatOf(of, Format)
	if !of.Hub() {
		obs.Account, obs.Region, obs.Partition = of.Account, of.Region, of.Partition()
	}
	return obs
}

// Launch is how one launch stands.
type Launch = snapshot.Launch

// LaunchStatus is how a launch stands.
type LaunchStatus = snapshot.LaunchStatus

// The standings. Waiting and Missed may still change.
const (
	Waiting = snapshot.LaunchWaiting
	Missed  = snapshot.LaunchMissed
	Joined  = snapshot.LaunchJoined
	Gone    = snapshot.LaunchGone
	GivenUp = snapshot.LaunchGivenUp
)

// Chart is a small picture.
type Chart struct {
	// Of is the subnet whose free addresses it shows.
	Of  string `json:"of"`
	PNG []byte `json:"png"`
	// Alt says in words what it shows.
	Alt string `json:"alt"`
	// Returned is how many addresses it shows as given back by a cleanup.
	Returned int `json:"returned,omitempty"`
}

// Tagged is a thing with its labels and tags, of a kind of package ownership.
type Tagged struct {
	Kind string            `json:"kind"`
	Name string            `json:"name"`
	Tags map[string]string `json:"tags"`
}

// Logs is a log group of CloudWatch.
type Logs struct {
	Group  string `json:"group"`
	Region string `json:"region"`
}

// Fact is one line for the thread.
type Fact struct {
	What  string `json:"what"`
	Value string `json:"value"`
}

// SpokeCluster is the observed cluster.
func (obs Observation) SpokeCluster() spoke.Cluster {
	return spoke.Cluster{ID: obs.Spoke, Name: obs.Cluster}
}

// Key is the key of the incident of a check of the observed cluster.
func (obs Observation) Key(check checkid.ID, resource string) Key {
	return Key{Spoke: obs.Spoke, Cluster: obs.Cluster, Check: check, Resource: resource}
}

// Capacity is how many nodes an Auto Scaling group wants and how many of its instances
// are Ready nodes, in one look.
type Capacity struct {
	Group string `json:"group"`
	// Nodegroup is the managed nodegroup that the group is of; empty for a group without.
	Nodegroup string `json:"nodegroup,omitempty"`
	Desired   int    `json:"desired"`
	Ready     int    `json:"ready"`
}

// BelongsTo reports whether it is of what goes by a name.
func (c Capacity) BelongsTo(name string) bool {
	return name != "" && (name == c.Group || name == c.Nodegroup)
}

// WaitingPods are the pods of a cluster that wait for a node, or on one for an address, in
// one look.
type WaitingPods struct {
	// Unread is why the pods could not be read; nil where they were.
	Unread *snapshot.Failure `json:"unread,omitempty"`
	// Workloads are those with pods that wait, those with most pods first; More counts the
	// pods of those that are left out.
	Workloads []WaitingWorkload `json:"workloads,omitempty"`
	More      int               `json:"more,omitempty"`
	// Sources are the nodegroups and NodePools whose nodes the pods were compared with.
	Sources []NodeSource `json:"sources,omitempty"`
}

// WaitingWorkload are pods of one owner that wait for the same.
type WaitingWorkload struct {
	diagnosis.Workload
	// Fits are the sources whose nodes could run the pods, Unsure those of which that
	// cannot be told.
	Fits   []string `json:"fits,omitempty"`
	Unsure []string `json:"unsure,omitempty"`
	// On are the subnet and the instance on which the pods wait for an address; empty for
	// pods that no node took.
	On []string `json:"on,omitempty"`
}

// NodeSource is a nodegroup, an Auto Scaling group without one, or a NodePool.
type NodeSource struct {
	Name string `json:"name"`
	// Group is the Auto Scaling group; empty for a NodePool.
	Group string `json:"group,omitempty"`
	// Launches reports whether a node of it is on its way, or may come by itself.
	Launches bool `json:"launches,omitempty"`
}

// Cleanup is what eni-cleanup did in a cluster on one day (UTC), or, in the mode
// dry-run, would have done. It is sent again with each run that adds to it, and
// its message is edited.
type Cleanup struct {
	// Mode is "dry-run" or "delete".
	Mode string    `json:"mode"`
	Day  time.Time `json:"day"`
	VPC  string    `json:"vpc"`
	// Subnets are those that got addresses back, by id.
	Subnets []CleanupSubnet `json:"subnets,omitempty"`
	// Nodes is how many dead nodes it was of in all: one may have had interfaces
	// in several subnets. 0 where an earlier version did not count them.
	Nodes int `json:"nodes,omitempty"`
	// Left is how many interfaces of dead nodes wait for the next run (the cap,
	// the time), Kept how many no run will delete, with the reasons and counts.
	Left int            `json:"left,omitempty"`
	Kept map[string]int `json:"kept,omitempty"`
	// Stopped is set when the run did nothing because too many of the VPC's
	// interfaces looked deletable: a person has to look.
	Stopped *CleanupStop `json:"stopped,omitempty"`
}

// Deletes reports whether it deletes: a dry run only asks EC2 whether it would be allowed.
func (c Cleanup) Deletes() bool { return c.Mode == "delete" }

// CleanupSubnet is what came back to one subnet.
type CleanupSubnet struct {
	Subnet     string `json:"subnet"`
	Zone       string `json:"zone,omitempty"`
	Interfaces int    `json:"interfaces"`
	Addresses  int    `json:"addresses"`
	Nodes      int    `json:"nodes"`
	// Free is how many the subnet had then.
	Free int `json:"free"`
}

// CleanupStop is why a run stopped before it began.
type CleanupStop struct {
	Candidates int `json:"candidates"`
	// Interfaces is how many the VPC has in all, Share the setting in percent.
	Interfaces int `json:"interfaces"`
	Share      int `json:"share"`
	// Over is when a later run went on; report sets it.
	Over time.Time `json:"over,omitzero"`
}

// CommandFormat is the version of Command. It counts as those of presses do.
const CommandFormat = 201

// CommandKind is the word by which DecodeMessage tells it.
const CommandKind = "command"

// Commands stands for the cluster in what is of no cluster in particular. On the queue a
// person's commands come behind one another, and hold up nothing that is observed and
// no other person's. No cluster has such a name.
const Commands = "(commands)"

// Verb is what a command requests.
type Verb string

// The verbs. OpenHome is not typed: a person opened the app's home page.
const (
	AskHelp      Verb = "help"
	AskStatus    Verb = "status"
	AskClusters  Verb = "clusters"
	AskSilences  Verb = "silences"
	AskSilence   Verb = "silence"
	AskUnsilence Verb = "unsilence"
	AskWhy       Verb = "why"
	AskReport    Verb = "report"
	OpenHome     Verb = "home"
)

// EndSilence is the action_id of the button that ends a silence.
const EndSilence Action = "unsilence"

// Ask is a parsed command, typed after /rollcall or pressed.
type Ask struct {
	Verb Verb `json:"verb"`
	// Cluster is as it was named: without an account it is the hub's own.
	Cluster   spoke.Cluster   `json:"cluster,omitzero"`
	Nodegroup string          `json:"nodegroup,omitempty"`
	Tag       *silence.Tag    `json:"tag,omitempty"`
	Check     checkid.ID      `json:"check,omitempty"`
	Weekly    *silence.Window `json:"weekly,omitempty"`
	// From is when a silence begins; zero is now. For is how long it lasts, or how far back a report reaches.
	From     time.Time     `json:"from,omitzero"`
	For      time.Duration `json:"for,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	Instance string        `json:"instance,omitempty"`
	// Silence is the id of the one to end.
	Silence string `json:"silence,omitempty"`
}

// Command is a slash command, or a press on the home page, as slack-actions passes it on:
// signed by Slack, fresh, for the first time, and understood. Who may, report decides.
type Command struct {
	Format int    `json:"format"`
	Kind   string `json:"kind"`
	// ID is the hash of the signed request.
	ID  string    `json:"id"`
	At  time.Time `json:"at"`
	Ask Ask       `json:"ask"`

	User       User   `json:"user"`
	Team       string `json:"team,omitempty"`
	Home       string `json:"home,omitempty"`
	Enterprise string `json:"enterprise,omitempty"`
	Channel    string `json:"channel,omitempty"`
	// ResponseURL takes the answer; empty where it was the home page. Whoever has it can
	// write into the channel for half an hour: it stands in no log and no record. Who may
	// read this queue has Slack's token anyway.
	ResponseURL string `json:"responseUrl,omitempty"`
	// OnHome reports whether it was opened or pressed on the home page, View the state in which
	// that was; empty for one that was never drawn.
	OnHome bool   `json:"onHome,omitempty"`
	View   string `json:"view,omitempty"`
	// Says is why slack-actions did nothing of what was pressed on the home page: the page
	// says it when it is drawn anew. A press there has no response_url, and what is for one
	// person alone is shown in a channel only
	// (docs.slack.dev/reference/methods/chat.postEphemeral).
	Says string `json:"says,omitempty"`
}

// EncodeCommand writes a command as it travels.
func EncodeCommand(c Command) (PressMessage, error) {
	c.Format, c.Kind = CommandFormat, CommandKind
	body, err := json.Marshal(c)
	if err != nil {
		return PressMessage{}, fmt.Errorf("encode the command %s: %w", c.Ask.Verb, err)
	}
	return PressMessage{ID: c.ID, Of: spoke.Cluster{Name: Commands + c.User.ID}, Body: body}, nil
}

// AllClusters stands for the region in what is about no cluster in particular: the
// list of clusters cannot be read. No cluster has such a name (EKS: letters,
// digits, hyphens and underscores, the first a letter or digit).
const AllClusters = "(all)"

// Key names an incident: never by text, so that better words do not make a
// new incident.
type Key struct {
	// The zero Spoke is the hub's own account and region.
	Spoke    spoke.ID   `json:"spoke,omitzero"`
	Cluster  string     `json:"cluster"`
	Check    checkid.ID `json:"check"`
	Resource string     `json:"resource"`
}

// Name is an incident's name at the command line.
func (k Key) Name() string {
	return k.Spoke.Qualify(k.Cluster) + ":" + string(k.Check) + ":" + k.Resource
}

// SpokeCluster is the cluster of the incident.
func (k Key) SpokeCluster() spoke.Cluster { return spoke.Cluster{ID: k.Spoke, Name: k.Cluster} }

// Message is what a message on the results queue holds: one of these.
type Message struct {
	Observation  *Observation
	Summary      *Summary
	Press        *Press
	Proposal     *Proposal
	RemedyResult *RemedyResult
	Changes      *Changes
	Alert        *AlertChange
	Command      *Command
	// Head is that of the message if it is about one incident; DecodeMessage sets it.
	Head *Head
	// Digest is that of a press's or a command's body as it came: what PressRecord holds.
	Digest string
}

// Head is what each message about one incident begins with.
type Head struct {
	Format int       `json:"format"`
	Kind   string    `json:"kind"`
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	// Cluster repeats the key's; a press leaves it out.
	Cluster string `json:"cluster,omitempty"`
	Key     Key    `json:"key"`
}

// For returns the head of a message of a kind, as it is sent.
func (h Head) For(kind string) Head {
	h.Format, h.Kind, h.Cluster = formatOf(h.Key.Spoke, IncidentFormat), kind, h.Key.Cluster
	return h
}

// Cluster is the cluster that the message is about.
func (m Message) Cluster() string {
	switch {
	case m.Head != nil:
		return m.Head.Key.Cluster
	case m.Summary != nil:
		return m.Summary.Cluster
	case m.Command != nil:
		return Commands
	}
	return m.Observation.Cluster
}

// ForSpoke makes a message one of a spoke: all that it names is that spoke's, whatever its
// keys say. Whose is the name that people know the spoke by.
func (m Message) ForSpoke(id spoke.ID, whose string) Message {
	switch {
	case m.Head != nil:
		m.Head.Key.Spoke = id
	case m.Observation != nil:
		m.Observation.Spoke, m.Observation.Whose = id, whose
	case m.Summary != nil:
		// Two spokes may have clusters of one name, and each its daily summary.
		m.Summary.Format, m.Summary.ID, m.Summary.Whose = SummaryFormat, id.Qualify(m.Summary.ID), whose
	}
	return m
}

// kind is one type of message: the newest format that is read, the field to decode into,
// its head if it is about an incident, and what is missing in it.
type kind struct {
	name   string
	format int
	field  func(*Message) any
	head   func(*Message) *Head
	check  func(Message) error
}

// kinds are those that name their kind. A message without one is an observation, one of
// another kind is a summary.
func kinds() []kind {
	const spokes = IncidentFormat + 1
	return []kind{
		{CommandKind, CommandFormat, func(m *Message) any { return fresh(&m.Command) }, nil, completeCommand},
		{PressKind, spokes, func(m *Message) any { return fresh(&m.Press) }, func(m *Message) *Head { return &m.Press.Head }, complete},
		{ProposalKind, spokes, func(m *Message) any { return fresh(&m.Proposal) }, func(m *Message) *Head { return &m.Proposal.Head }, complete},
		{RemedyResultKind, spokes, func(m *Message) any { return fresh(&m.RemedyResult) }, func(m *Message) *Head { return &m.RemedyResult.Head }, complete},
		{ChangesKind, spokes, func(m *Message) any { return fresh(&m.Changes) }, func(m *Message) *Head { return &m.Changes.Head }, complete},
		{AlertChangeKind, spokes, func(m *Message) any { return fresh(&m.Alert) }, func(m *Message) *Head { return &m.Alert.Head }, complete},
	}
}

// fresh fills a field, so that the body null leaves it empty and not nil.
func fresh[T any](field **T) *T {
	*field = new(T)
	return *field
}

func observations() kind {
	return kind{"observation", Format + 1, func(m *Message) any { return fresh(&m.Observation) }, nil, completeObservation}
}

// kindOf returns the type of a message by the kind in its body.
func kindOf(raw json.RawMessage) (kind, error) {
	if len(raw) == 0 {
		return observations(), nil
	}
	var name string
	if err := json.Unmarshal(raw, &name); err != nil {
		return kind{}, err
	}
	list := kinds()
	if i := slices.IndexFunc(list, func(k kind) bool { return k.name == name }); i >= 0 {
		return list[i], nil
	}
	return kind{"summary", SummaryFormat + 1, func(m *Message) any { return fresh(&m.Summary) }, nil, completeSummary}, nil
}

// opening is what decides how the rest of a message is decoded.
type opening struct {
	Format int             `json:"format"`
	Kind   json.RawMessage `json:"kind"`
}

// DecodeMessage reads a message from the results queue.
func DecodeMessage(body []byte) (Message, error) {
	var o opening
	if err := json.Unmarshal(body, &o); err != nil {
		return Message{}, fmt.Errorf("decode a result: %w", err)
	}
	k, err := kindOf(o.Kind)
	if err != nil {
		return Message{}, fmt.Errorf("decode a result: %w", err)
	}
	return k.decode(o.Format, body)
}

// Decode reads an observation, whatever kind the message names.
func Decode(body []byte) (Observation, error) {
	var o opening
	if err := json.Unmarshal(body, &o); err != nil {
		return Observation{}, fmt.Errorf("decode an observation: %w", err)
	}
	m, err := observations().decode(o.Format, body)
	if err != nil {
		return Observation{}, err
	}
	return *m.Observation, nil
}

// decode reads a message of the kind. The format comes first: a newer one may not even
// fit the type.
func (k kind) decode(format int, body []byte) (m Message, err error) {
	if format > k.format {
		return Message{}, fmt.Errorf("decode a message of kind %s: %w (format %d, known %d)", k.name, ErrNewerFormat, format, k.format)
	}
	err = json.Unmarshal(body, k.field(&m))
	if err == nil && k.head != nil {
		m.Head = k.head(&m)
	}
	if err == nil {
		err = k.check(m)
	}
	if err != nil {
		return Message{}, fmt.Errorf("decode a message of kind %s: %w", k.name, err)
	}
	if m.Press != nil || m.Command != nil {
		m.Digest = digestOf(body)
	}
	return m, nil
}

// The ways in which a message can be none of its kind.
var (
	ErrNewerFormat = errors.New("it has a newer format: deploy the version of Rollcall that sent it, then redrive the dead-letter queue")
	ErrIncomplete  = errors.New("not an observation: id, cluster and time are required")
	ErrNoSummary   = errors.New("not a summary: id, cluster, time and a known kind are required")
	ErrNoCommand   = errors.New("a command needs an id, a time, a person and a request")
	ErrUnkeyed     = errors.New("id, time and the incident's cluster, check and resource are required")
)

func completeObservation(m Message) error {
	if obs := m.Observation; obs.Format < 1 || obs.ID == "" || obs.Cluster == "" || obs.At.IsZero() {
		return ErrIncomplete
	}
	return nil
}

func completeSummary(m Message) error {
	if s := m.Summary; s.Format < SummaryFormat || !s.known() || strings.TrimSpace(s.ID) == "" || s.Cluster == "" || s.At.IsZero() {
		return ErrNoSummary
	}
	return nil
}

func completeCommand(m Message) error {
	if c := m.Command; c.ID == "" || c.At.IsZero() || c.User.ID == "" || c.Ask.Verb == "" {
		return ErrNoCommand
	}
	return nil
}

func complete(m Message) error {
	if h := m.Head; strings.TrimSpace(h.ID) == "" || h.Key.Cluster == "" || h.Key.Check == "" || h.Key.Resource == "" || h.At.IsZero() {
		return ErrUnkeyed
	}
	return nil
}

// IncidentFormat is the version of the messages about an incident. It counts from above
// those of Observation and Summary, so that an older report function refuses them.
const IncidentFormat = 201

// The words by which DecodeMessage tells them.
const (
	PressKind        = "press"
	ProposalKind     = "proposal"
	RemedyResultKind = "deed"
	ChangesKind      = "changes"
	AlertChangeKind  = "alert"
)

// Action is what a person did in Slack. It is also the action_id of the
// button or menu.
type Action string

// The actions. A mute's length is the menu option's value: 1h, 4h, 24h.
const (
	Acknowledge Action = "acknowledge"
	TakeOver    Action = "take-over" // what another person has acknowledged
	MuteFor     Action = "mute"
	Unmute      Action = "unmute"
	CheckAgain  Action = "check"
	OfferAgain  Action = "offer" // a fresh plan, after an offer ran out
	ApprovePlan Action = "approve"
	RefusePlan  Action = "refuse"
	// Whether a closed incident named the right cause, and one line about it.
	SayRight     Action = "feedback-right"
	SayWrong     Action = "feedback-wrong"
	SayNotUseful Action = "feedback-not-useful"
	SayMore      Action = "feedback-text"
)

// IsFeedback reports whether an action is about an incident that is over.
func (a Action) IsFeedback() bool {
	return a == SayRight || a == SayWrong || a == SayNotUseful || a == SayMore
}

// Press is a button pressed in Slack, as slack-actions passes it on: signed by
// Slack, fresh, and for the first time. Whether it is allowed, report decides.
type Press struct {
	// Head has the hash of the signed request for an id.
	Head
	Action Action `json:"action"`
	// Number is which opening of the incident the button was of; 0 where it
	// does not say.
	Number int `json:"number,omitempty"`
	// For is how long a mute lasts.
	For time.Duration `json:"for,omitempty"`
	// Plan is the hash of the plan that is approved or refused.
	Plan string `json:"plan,omitempty"`
	// Text is what a person wrote about their feedback.
	Text string `json:"text,omitempty"`
	User User   `json:"user"`
	Team string `json:"team,omitempty"`
	// Home is the workspace that Slack says the person is of, Enterprise the
	// organization of that workspace. Whether they are the app's, report finds out.
	Home       string `json:"home,omitempty"`
	Enterprise string `json:"enterprise,omitempty"`
	// Channel and TS are the message's, Thread that of the message above it.
	Channel string `json:"channel"`
	TS      string `json:"ts"`
	Thread  string `json:"thread,omitempty"`
}

// User is a person in Slack.
type User struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
}

// Workspace is where the app is installed, as auth.test tells it: its workspace,
// and its organization where it has one.
type Workspace struct {
	ID, Enterprise string
	// URL is its address, with which links to messages begin; empty where Slack did not say.
	URL string
}

// Proposal is a plan that remediate made for an incident: to be approved by a
// person, or, with the policy auto, to be done now. An empty Hash takes the
// remedy's earlier proposal back, and Says tells why there is none.
type Proposal struct {
	Head
	Remedy optin.Remedy  `json:"remedy"`
	Policy optin.Policy  `json:"policy"`
	Plan   remedy.Plan   `json:"plan,omitzero"`
	Hash   string        `json:"hash,omitempty"`
	Lasts  time.Duration `json:"lasts,omitempty"` // how long it may be approved
	Reason string        `json:"reason,omitempty"`
	Says   string        `json:"says,omitempty"`
	// Follows is what will be done after the plan without another word, or offered.
	Follows string `json:"follows,omitempty"`
	// After is when it is to be tried again, for Reason: nothing is offered or done
	// until then. Tried is how often in a row it could not be looked.
	After time.Time `json:"after,omitzero"`
	Tried int       `json:"tried,omitempty"`
}

// RemedyResult is what remediate did.
type RemedyResult struct {
	Head
	Run remedy.Run `json:"deed"`
}

// The words of Proposal.Reason for which a remedy is tried again.
const (
	// LimitReached: the remedy acted as often as it may within an hour.
	LimitReached = "limit-reached"
	// MoreLeft: one plan does not do all of it.
	MoreLeft = "more-left"
)

// A press reaches report through the results queue, to which every detector may
// send. What proves that Slack signed it is a record in the table with the hash
// of the message: only slack-actions may write records of that kind (IAM,
// dynamodb:LeadingKeys), so that no other sender can forge a press. A queue of
// its own would prove the same, and be polled by Lambda day and night for a few
// presses a week.

// PressRecordFormat is the version of PressRecord.
const PressRecordFormat = 1

// PressRecord is what the table knows of a press.
type PressRecord struct {
	Format int `json:"format"`
	// Digest is that of the PressMessage which was passed on; empty until it is.
	Digest string `json:"digest,omitempty"`
}

// PressMessage is a press as it travels through the results queue.
type PressMessage struct {
	ID   string
	Of   spoke.Cluster
	Body []byte
}

// EncodePress writes a press as it travels.
func EncodePress(p Press) (PressMessage, error) {
	p.Head = p.Head.For(PressKind)
	p.Cluster = ""
	body, err := json.Marshal(p)
	if err != nil {
		return PressMessage{}, fmt.Errorf("encode the press of %s: %w", p.Key.Cluster, err)
	}
	return PressMessage{ID: p.ID, Of: p.Key.SpokeCluster(), Body: body}, nil
}

// Digest is the SHA-256 of the message, in hex: of the bytes as they are, so that
// no version has to encode a press as another one did.
func (m PressMessage) Digest() string { return digestOf(m.Body) }

func digestOf(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// Changes is what change-check found in CloudTrail about the resources of a
// cause.
type Changes struct {
	Head
	// Opened is the incident's: what is found for an earlier time is not for
	// the one that came back.
	Opened time.Time     `json:"opened"`
	Found  RecentChanges `json:"trail"`
}

// AlertChange is what a responder did with an incident's alert in PagerDuty or Jira Service
// Management, as notify-targets read it there. It stops reminders and closes nothing, which
// any detector may do to an incident: it needs no proof of its own as a Press does.
type AlertChange struct {
	Head
	// Opened is the incident's when the alert was sent.
	Opened time.Time `json:"opened"`
	// In is the service's name for people, State the alert's there.
	In    string     `json:"in"`
	State AlertState `json:"state"`
	// By is the responder's name there, if it is known; When is when they did it.
	By   string    `json:"by,omitempty"`
	When time.Time `json:"when"`
}

// AlertState is the state of an alert outside Slack.
type AlertState string

// The states, with PagerDuty's words.
const (
	AlertTriggered    AlertState = "triggered"
	AlertAcknowledged AlertState = "acknowledged"
	AlertResolved     AlertState = "resolved"
)

// RecentChanges is what CloudTrail knows of the resources of a cause.
type RecentChanges struct {
	// From and To are the time that was looked at: the last good and the first
	// bad join. A zero From: no good one is known, it is the longest looked at.
	From time.Time `json:"from,omitzero"`
	To   time.Time `json:"to,omitzero"`
	// LastGood is the launch that joined last before, if one is known.
	LastGood string   `json:"lastGood,omitempty"`
	Changes  []Change `json:"changes,omitempty"` // newest first
	// More is how many are not listed.
	More int `json:"more,omitempty"`
	// Blind says what could not be read, and why: "cloudtrail:LookupEvents
	// AccessDenied".
	Blind string `json:"blind,omitempty"`
	// Open reports whether CloudTrail may not have everything yet: it is asked again.
	Open bool `json:"open,omitempty"`
	// Shown is how many of the changes the thread was given.
	Shown int `json:"shown,omitempty"`
}

// Change is one write call.
type Change struct {
	ID       string    `json:"id"` // CloudTrail's event id
	At       time.Time `json:"at"`
	Call     string    `json:"call"` // CreateRouteTable
	Resource string    `json:"resource"`
	// Actor is who called: a user's name, or a role's and its session's;
	// Rollcall itself is "Rollcall". Principal is the ARN.
	Actor     string `json:"actor"`
	Principal string `json:"principal,omitempty"`
	// By is the service that called in the actor's name: cloudformation.amazonaws.com.
	By string `json:"by,omitempty"`
	// Error is CloudTrail's code of a call that was refused.
	Error string `json:"error,omitempty"`
	// Times is how often the actor did the same; At is the last time. 0 is once.
	Times int `json:"times,omitempty"`
}

// WithoutNames are the changes without the people who made them. Rollcall and AWS services stay.
func (r RecentChanges) WithoutNames() RecentChanges {
	r.Changes = slices.Clone(r.Changes)
	for i := range r.Changes {
		if c := &r.Changes[i]; c.Actor != "Rollcall" && !strings.HasSuffix(c.Actor, ".amazonaws.com") {
			c.Actor, c.Principal = "", ""
		}
	}
	return r
}

// Split cuts an observation into parts whose JSON has at most limit bytes
// each, and that together say the same: a launch, and all that is said of it,
// is in one part. What is not about launches is in the first, but for what
// could and could not be read, which each part needs to be judged.
//
// One that is small enough stays as it is. The parts have the same time, so
// that they count as one look.
func (obs Observation) Split(limit int) ([]Observation, error) {
	obs, err := obs.FewerCharts(min(limit, MaxCharted))
	if err != nil {
		return nil, err
	}
	ids := obs.instances()
	for n := 1; ; n *= 2 {
		parts := obs.parts(ids, n)
		largest := 0
		for _, p := range parts {
			body, err := json.Marshal(p)
			if err != nil {
				return nil, fmt.Errorf("encode the observation of %s: %w", obs.Cluster, err)
			}
			largest = max(largest, len(body))
		}
		if largest <= limit {
			return parts, nil
		}
		if n >= len(ids) {
			return nil, fmt.Errorf("a part of the observation of %s has %d bytes, more than the %d of a message", obs.Cluster, largest, limit)
		}
	}
}

// MaxCharted is how large an observation may become by its charts: well within
// a message (SQS: 1 MiB, 256 KiB before August 2025).
const MaxCharted = 240 << 10

// FewerCharts leaves out as many charts, the last ones first, as make the
// observation's JSON at most limit bytes; all of them if that is not enough.
func (obs Observation) FewerCharts(limit int) (Observation, error) {
	for len(obs.Charts) > 0 {
		body, err := json.Marshal(obs)
		if err != nil {
			return obs, fmt.Errorf("encode the observation of %s: %w", obs.Cluster, err)
		}
		if len(body) <= limit {
			break
		}
		obs.Charts = obs.Charts[:len(obs.Charts)-1]
	}
	return obs, nil
}

// instances are all that the observation tells of, sorted.
func (obs Observation) instances() []string {
	var ids []string
	for _, l := range obs.Launches {
		ids = append(ids, l.Instance)
	}
	for _, c := range obs.Diagnosis.Causes {
		ids = append(ids, c.Instances...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// parts cuts an observation into n, by the instances' order.
func (obs Observation) parts(ids []string, n int) []Observation {
	if n == 1 {
		return []Observation{obs}
	}
	parts := make([]Observation, n)
	for k := range parts {
		// A part's own are those in this piece of the order; what is no
		// instance is the first part's.
		from, to := k*len(ids)/n, (k+1)*len(ids)/n
		parts[k] = obs.part(k, func(id string) bool {
			i, instance := slices.BinarySearch(ids, id)
			return instance && from <= i && i < to
		}, func(id string) bool {
			_, instance := slices.BinarySearch(ids, id)
			return instance
		})
	}
	return parts
}

// tagsOf are the tags of the nodegroups that a part names.
func (obs Observation) tagsOf() map[string]map[string]string {
	kept := map[string]map[string]string{}
	keep := func(name string) {
		if tags, known := obs.Tags[name]; known {
			kept[name] = tags
		}
	}
	for _, l := range obs.Launches {
		keep(l.Nodegroup)
		keep(l.Group)
	}
	for _, c := range obs.Diagnosis.Causes {
		for _, name := range c.Nodegroups {
			keep(name)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// part is the k-th part: own tells its instances, instance those of any part.
func (obs Observation) part(k int, own, instance func(string) bool) Observation {
	p := obs
	if k > 0 {
		p.ID = fmt.Sprintf("%s#%d", obs.ID, k+1)
		p.Facts, p.Absent, p.Charts = nil, nil, nil
	}
	keep := func(list []string, other bool) []string {
		var kept []string
		for _, id := range list {
			if own(id) || other && !instance(id) {
				kept = append(kept, id)
			}
		}
		return kept
	}
	p.Launches = nil
	for _, l := range obs.Launches {
		if own(l.Instance) {
			p.Launches = append(p.Launches, l)
		}
	}
	p.Diagnosis.Causes = nil
	for _, c := range obs.Diagnosis.Causes {
		had := len(c.Instances)
		c.Instances, c.Covers = keep(c.Instances, false), keep(c.Covers, true)
		if len(c.Instances) > 0 || had == 0 && k == 0 {
			p.Diagnosis.Causes = append(p.Diagnosis.Causes, c)
		}
	}
	p.Tags = p.tagsOf()
	p.Diagnosis.Passed = nil
	for _, passed := range obs.Diagnosis.Passed {
		if passed.Covers = keep(passed.Covers, k == 0); len(passed.Covers) > 0 {
			p.Diagnosis.Passed = append(p.Diagnosis.Passed, passed)
		}
	}
	p.Diagnosis.Unknown = nil
	for _, u := range obs.Diagnosis.Unknown {
		whole := len(u.Covers) == 0 // it covers the whole scope
		if u.Covers = keep(u.Covers, k == 0); whole || len(u.Covers) > 0 {
			p.Diagnosis.Unknown = append(p.Diagnosis.Unknown, diagnosis.Unknown{Check: u.Check, Covers: u.Covers, Blocked: u.Blocked})
		}
	}
	return p
}
