// Package messages holds what is known of the messages on an instance's way to a node, as data:
// rows of what launches, consoles, logs and APIs say, what they mean and what to do next, and the
// one matcher that finds them. Readers are packages activity, console and text.
package messages

import (
	"slices"

	"rollcall/shared/checkid"
)

// TextRows are those of what people paste and logs hold, in the order in which they count among
// equals.
func TextRows() []Row {
	return slices.Concat(identityRows(), pathRows(), karpenterRows(), bootRows(), eksRows(), kubernetesRows(), printedRows(), apiRows())
}

// Row is one kind of message and what it means. What is left empty does not count; all that
// is set must hold.
type Row struct {
	// ID names rows of consoles: evidence and tests name them.
	ID      string
	Check   checkid.ID
	Symptom bool
	Look    []checkid.ID
	// Title is half a sentence for rows of consoles. Meaning and Next are those of the check
	// where they are empty.
	Title, Meaning, Next string

	By    []Program // one of them wrote it
	Not   []Program // none of them did
	Calls []string  // one of these operations, in lower case
	Codes []string  // one of these codes; "InvalidGroup.*" stands for all below
	Fails []Failure // it failed in one of these ways
	On    []Host    // one of these was talked to
	Node  bool      // an instance's own role made the call
	// Info reports whether the program writes it as information.
	Info bool
	// All must each have one of their phrases in the text: lower case, without
	// quotes; "…" is a gap within a sentence, "{flag}" one word that the answer names.
	All  [][]string
	None []string
	// Only is the whole text, where nothing else is said.
	Only []string
	// Sample is such a message, as its program prints it.
	Sample string
	// Source is where the phrases and codes are documented, by AWS or by the
	// program's own source. A row without one was learned from texts alone.
	Source string

	// Of launches: Exact rows count before all codes, as their words say what a shortage's
	// code leaves out; Weak ones after all others, as what they look for also wraps or follows
	// a better reason.
	Exact, Weak bool

	// Of consoles: Least is how often the line must come; 0 and 1 are once. What is tried
	// again and again, and may still succeed, needs more.
	Least int
	Phase Phase
	// Guess is set where the line alone does not prove it; Unanswered where it says no more
	// than that a service, or a name server, does not answer: a symptom of the network; Late
	// where it can strike a node that has registered.
	Guess, Unanswered, Late bool
}

// Phase is how far a start is when a row's line is written. What comes
// later reports whether it is over.
type Phase int

const (
	// InKernel is over when the operating system starts services.
	InKernel Phase = iota
	// InUserData is over when the kubelet starts, or nodeadm got through.
	InUserData
	// InRuntime is over when the kubelet starts.
	InRuntime
	// InKubelet is over when the kubelet registers its node.
	InKubelet
	// InAPI is over when the kubelet registers its node, and when a later
	// line of another row of this phase tells how it goes now.
	InAPI
)

// ConsoleRows are the rows of lines of a serial console: the more specific come first, and the
// units that fail as a result last.
func ConsoleRows() []Row {
	return slices.Concat(consoleBootRows(), consoleUserDataRows(), consoleNodeadmRows(), consoleRuntimeRows(), consoleKubeletRows(), consoleAPIRows(),
		consoleWindowsRows(), consoleUnitRows())
}

// The documents that rows are made from.
const (
	apiDoc       = "API references and botocore's models of EC2, EKS and Auto Scaling"
	kubeletDoc   = "github.com/kubernetes/kubernetes: pkg/kubelet, cmd/kubelet, plugin/pkg/admission/noderestriction, node authorizer, taint and condition constants"
	cniDoc       = "github.com/aws/amazon-vpc-cni-k8s: pkg/ipamd, pkg/awsutils, cmd/routed-eni-cni-plugin, docs/troubleshooting.md"
	karpenterDoc = "github.com/aws/karpenter-provider-aws and github.com/kubernetes-sigs/karpenter, v1: conditions, events and reasons in pkg/apis, pkg/controllers, pkg/errors"
	nodeadmDoc   = "github.com/awslabs/amazon-eks-ami: nodeadm, templates"
	iamDoc       = "IAM user guide, Troubleshooting access denied error messages"
	runbookDoc   = "Systems Manager runbook AWSSupport-TroubleshootEKSWorkerNode"
	eksDoc       = "EKS user guide, Troubleshooting"
)

// First are the phrases of which a text has one, else it is not of the row; none for a row
// without words.
func (r Row) First() []string {
	if len(r.All) == 0 {
		return nil
	}
	return r.All[0]
}
