package evidence

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"rollcall/shared/capture"
	"rollcall/shared/capture/filename"
	"rollcall/shared/event"
	"rollcall/shared/redact"
)

// mostArchive bounds what is kept of one look, in bytes as they are kept.
const mostArchive = 4 << 20

// About is what evidence is of, as evidence.json has it.
type About struct {
	// By is the function, and Release that of which it was built.
	By      string `json:"by"`
	Release string `json:"release,omitempty"`
	Account string `json:"account"`
	Region  string `json:"region"`
	Cluster string `json:"cluster"`
	// At is when the function looked.
	At time.Time `json:"at"`
	// Causes are what it found.
	Causes []Cause `json:"causes"`
}

// Cause is one cause that was found.
type Cause struct {
	Check    string `json:"check"`
	Resource string `json:"resource"`
}

// AboutFile is the file that tells what the evidence is of.
const AboutFile = "evidence.json"

// Archive is what was read of a cluster, as a capture in a .tar.gz. What does not fit is
// left out, and listed.
func (r *Recorder) Archive(about About) ([]byte, error) {
	trigger, reads := r.all()
	reads = slices.DeleteFunc(reads, func(one read) bool { return !of(one.file, about.Cluster) })
	secrets := redact.New(redact.Masked)
	byFile := map[string][]read{}
	for _, one := range reads {
		byFile[one.file] = append(byFile[one.file], one)
	}
	p := pack{at: about.At, room: mostArchive}
	raw, err := json.MarshalIndent(about, "", " ")
	if err != nil {
		return nil, fmt.Errorf("write what it is of: %w", err)
	}
	p.add(p.member(AboutFile, append(raw, '\n')))
	p.add(p.member("time.txt", []byte(about.At.UTC().Format(time.RFC3339)+"\n")))
	var left []capture.LeftOut
	files, refused, scope := map[string][]byte{}, map[string]capture.Refusal{}, Scope{}
	for name, list := range byFile {
		f, err := fileOf(list, secrets)
		switch {
		case err != nil:
			left = append(left, capture.LeftOut{File: name, Why: err.Error()})
			continue
		case f.data != nil:
			files[name] = p.member(name+".json", f.data)
			if f.asked != nil {
				scope[name] = f.asked
			}
		case f.refused != nil:
			refused[name] = *f.refused
		}
		if f.lost {
			left = append(left, capture.LeftOut{File: name, Why: fmt.Sprintf("more was read at once than the %d MiB that are held", mostHeld>>20)})
		}
	}
	calls, err := recordsOf(trigger, secrets)
	if err != nil {
		return nil, err
	}
	for name, data := range calls {
		files[name] = p.member(name+".json", data)
	}
	// The smallest first: what does not fit is the fewest files.
	names := slices.SortedFunc(maps.Keys(files), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(files[a]), len(files[b])), strings.Compare(a, b))
	})
	for _, name := range names {
		if !p.add(files[name]) {
			delete(scope, name)
			left = append(left, capture.LeftOut{File: name, Why: fmt.Sprintf("what is kept of one look is at most %d MiB", mostArchive>>20)})
		}
	}
	slices.SortFunc(left, func(a, b capture.LeftOut) int {
		return cmp.Or(strings.Compare(a.File, b.File), strings.Compare(a.Why, b.Why))
	})
	for _, list := range []struct {
		name  string
		value any
		any   bool
	}{{"errors.json", refused, len(refused) > 0}, {AskedFile, scope, len(scope) > 0}, {"left-out.json", slices.Compact(left), len(left) > 0}} {
		if !list.any {
			continue
		}
		raw, err := json.MarshalIndent(list.value, "", " ")
		if err != nil {
			return nil, fmt.Errorf("write %s: %w", list.name, err)
		}
		p.room = max(p.room, mostLists)
		p.add(p.member(list.name, append(raw, '\n')))
	}
	return p.bytes()
}

// mostLists is kept free for what tells of the whole.
const mostLists = 1 << 20

// of tells that a file is of a cluster, or of the account.
func of(file, cluster string) bool {
	operation, keys, keyed := strings.Cut(file, ".")
	if !keyed || !strings.HasPrefix(operation, "eks-") && !strings.HasPrefix(operation, "kubectl-") {
		return true
	}
	name, _, _ := strings.Cut(keys, ".")
	return name == filename.Key(cluster)
}

// file is a file that was put together.
type file struct {
	data []byte // nil where there is none
	// asked is what was asked for, nil where that is all that there is.
	asked []Asked
	// refused is how all was refused.
	refused *capture.Refusal
	// lost tells that something was answered that is not held any more.
	lost bool
}

// fileOf is the file of several reads.
func fileOf(list []read, secrets *redact.Redactor) (f file, err error) {
	d := document{secrets: secrets}
	answered, whole := false, false
	for _, q := range questionsOf(list) {
		last := q[len(q)-1]
		switch {
		case slices.ContainsFunc(q, func(one read) bool { return one.lost }):
			f.lost = true // pages that are left are no list
			continue
		case last.refused != nil:
			f.refused = last.refused
			f.asked = append(f.asked, Asked{last.question, last.refused})
			continue
		}
		for _, one := range q {
			if one.refused != nil || isNil(one.out) && one.body == nil {
				continue
			}
			if err := d.add(one); err != nil {
				return file{}, err
			}
			answered = true
		}
		whole = whole || len(last.question) == 0
		f.asked = append(f.asked, Asked{Question: last.question})
	}
	if whole {
		f.asked = nil
	}
	if answered {
		f.data, f.refused = d.bytes(), nil
	}
	return f, nil
}

// questionsOf sorts reads by their questions, which are as many calls as there were pages.
func questionsOf(list []read) [][]read {
	var all [][]read
	for _, one := range list {
		i := slices.IndexFunc(all, func(q []read) bool { return maps.EqualFunc(q[0].question, one.question, slices.Equal) })
		if i < 0 {
			all = append(all, []read{one})
			continue
		}
		all[i] = append(all[i], one)
	}
	return all
}

// recordsOf are the files of CloudTrail's records of calls for instances that woke the
// function: no read has them.
func recordsOf(trigger json.RawMessage, secrets *redact.Redactor) (map[string][]byte, error) {
	messages, ok := event.Batch(trigger)
	if !ok {
		return nil, nil
	}
	type record struct {
		ID    string `json:"EventId"`
		Name  string `json:"EventName"`
		Event string `json:"CloudTrailEvent"`
	}
	byName := map[string][]record{}
	for _, m := range messages {
		var e struct {
			Detail json.RawMessage `json:"detail"`
		}
		var told struct {
			ID   string `json:"eventID"`
			Name string `json:"eventName"`
		}
		if json.Unmarshal([]byte(m.Body), &e) != nil || json.Unmarshal(e.Detail, &told) != nil {
			continue
		}
		if told.Name == "CreateFleet" || told.Name == "RunInstances" {
			byName[told.Name] = append(byName[told.Name], record{told.ID, told.Name, secrets.JSON(string(e.Detail))})
		}
	}
	files := map[string][]byte{}
	for name, list := range byName {
		raw, err := json.Marshal(map[string]any{"Events": list})
		if err != nil {
			return nil, fmt.Errorf("write CloudTrail's records: %w", err)
		}
		files[filename.Of("cloudtrail-lookup-events", name)] = raw
	}
	return files, nil
}

// pack is an archive in the making. Each file is a member of its own in the stream of
// gzip, whose members follow each other (RFC 1952, 2.2): so its size is known before it is
// in.
type pack struct {
	at   time.Time
	room int
	out  bytes.Buffer
	// packer is used for one file after the other: each of its own takes 800 KB.
	packer *gzip.Writer
}

// member is a file as it stands in the archive.
func (p *pack) member(name string, data []byte) []byte {
	var b bytes.Buffer
	if p.packer == nil {
		p.packer = gzip.NewWriter(&b)
	}
	z := p.packer
	z.Reset(&b)
	t := tar.NewWriter(z)
	// Writing to a bytes.Buffer does not fail. Flush fills the last block, and does not
	// write the archive's end, as Close would.
	_ = t.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data)), ModTime: p.at, Format: tar.FormatPAX})
	_, _ = t.Write(data)
	_ = t.Flush()
	_ = z.Close()
	return b.Bytes()
}

// add adds a file, and tells if there was room for it.
func (p *pack) add(member []byte) bool {
	if len(member) > p.room {
		return false
	}
	p.room -= len(member)
	p.out.Write(member)
	return true
}

// bytes is the whole archive.
func (p *pack) bytes() ([]byte, error) {
	z := gzip.NewWriter(&p.out)
	if err := tar.NewWriter(z).Close(); err != nil {
		return nil, fmt.Errorf("end the archive: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("end the archive: %w", err)
	}
	return p.out.Bytes(), nil
}
