// Package replay finds evidence that a deployment kept of an incident, and makes a capture
// of it again, to be diagnosed by today's code.
package replay

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/lambda"

	"rollcall/command/doctor"
	joincheck "rollcall/functions/join-check/spec"
	"rollcall/shared/config"
	"rollcall/shared/evidence"
	"rollcall/shared/incident"
	"rollcall/shared/report"
	"rollcall/shared/s3"
)

// Bounds of what is unpacked. Evidence has at most 4 MiB packed, and its files are JSON,
// which becomes ten to thirty times as large.
const (
	mostUnpacked = 256 << 20
	mostFiles    = 20_000
	// MostPacked bounds what is read of an archive.
	MostPacked = 64 << 20
)

// Error is an archive that is no evidence: what is wrong with it.
type Error struct{ Problem string }

func (e *Error) Error() string { return "it is no kept evidence: " + e.Problem }

func wrong(format string, args ...any) error { return &Error{fmt.Sprintf(format, args...)} }

// plainName is a name of a file of a capture: of no other folder, and not hidden.
var plainName = regexp.MustCompile(`^[A-Za-z0-9][^/\\\x00-\x1f]*$`)

// Unpack writes the files of an archive into a folder, which must be empty. Whatever a
// capture does not have (links, folders, names that lead elsewhere, too much) is an
// *Error, and nothing after it is written.
func Unpack(data []byte, dir string) (about evidence.About, err error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return about, wrong("it is no .tar.gz: %v", err)
	}
	room := int64(mostUnpacked)
	files := 0
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return about, wrong("it is cut or damaged: %v", err)
		}
		files++
		switch {
		case h.Typeflag != tar.TypeReg:
			return about, wrong("%q is not a file", h.Name)
		case !plainName.MatchString(h.Name) || h.Name != filepath.Base(h.Name):
			return about, wrong("%q is not a name of a file in a capture", h.Name)
		case files > mostFiles:
			return about, wrong("it has more than %d files", mostFiles)
		}
		n, err := write(filepath.Join(dir, h.Name), io.LimitReader(t, room+1))
		if err != nil {
			return about, err
		}
		if room -= n; room < 0 {
			return about, wrong("it holds more than %d MiB", mostUnpacked>>20)
		}
	}
	return ReadAbout(dir)
}

// WithFeedback adds to unpacked evidence what people said of the incident, for whoever reads
// it as a report of a mistake. Of those that are masked no name is left: they are numbered.
func WithFeedback(about evidence.About, inc incident.Incident, masked bool, dir string) (evidence.About, error) {
	words := map[report.Action]string{report.SayRight: "right", report.SayWrong: "wrong cause", report.SayNotUseful: "not useful"}
	people := map[string]string{}
	for _, f := range inc.Feedback {
		by := cmp.Or(f.By.Name, f.By.ID)
		if masked {
			if people[f.By.ID] == "" {
				people[f.By.ID] = fmt.Sprintf("person-%d", len(people)+1)
			}
			by = people[f.By.ID]
		}
		about.Feedback = append(about.Feedback, evidence.Feedback{By: by, At: f.At.UTC(), Says: words[f.Says], Text: f.Text})
	}
	return about, writeAbout(about, dir)
}

func writeAbout(about evidence.About, dir string) error {
	raw, err := json.MarshalIndent(about, "", " ")
	if err != nil {
		return fmt.Errorf("write %s: %w", evidence.AboutFile, err)
	}
	if err := os.WriteFile(filepath.Join(dir, evidence.AboutFile), append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("write %s: %w", evidence.AboutFile, err)
	}
	return nil
}

// ReadAbout reads what unpacked evidence is of.
func ReadAbout(dir string) (about evidence.About, err error) {
	raw, err := os.ReadFile(filepath.Join(dir, evidence.AboutFile))
	if err != nil {
		return about, wrong("it has no %s", evidence.AboutFile)
	}
	if err := json.Unmarshal(raw, &about); err != nil {
		return about, wrong("%s: %v", evidence.AboutFile, err)
	}
	return about, nil
}

// write writes a file that is not there, for its owner's eyes only.
func write(path string, from io.Reader) (int64, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return 0, wrong("it has %q twice", filepath.Base(path))
	}
	if err != nil {
		return 0, fmt.Errorf("unpack: %w", err)
	}
	n, err := io.Copy(f, from)
	closed := f.Close()
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader) {
		return n, wrong("it is cut or damaged: %v", err)
	}
	if err := errors.Join(err, closed); err != nil {
		return n, fmt.Errorf("unpack: %w", err)
	}
	return n, nil
}

// Bucket is where the deployment in the account and region of cfg keeps evidence: its
// functions say which one that is; "" where they keep none.
func Bucket(ctx context.Context, cfg aws.Config) (string, error) {
	name := doctor.Prefix + "-" + joincheck.Name
	out, err := lambda.NewFromConfig(cfg).GetFunctionConfiguration(ctx, &lambda.GetFunctionConfigurationInput{FunctionName: aws.String(name)})
	if err != nil {
		return "", fmt.Errorf("find the bucket of the evidence: %w", err)
	}
	if out.Environment == nil {
		return "", nil
	}
	return out.Environment.Variables[string(config.EvidenceBucket)], nil
}

// Objects is where evidence is read.
type Objects interface {
	Get(ctx context.Context, bucket, key string, most int64) ([]byte, error)
}

var _ Objects = (*s3.Client)(nil)

// GoneError is that there is no evidence of an incident, and why.
type GoneError struct{ Why string }

func (e *GoneError) Error() string { return e.Why }

// Kept is evidence that was found.
type Kept struct {
	Key  string
	Data []byte
	// Instead reports whether what was asked for is not there, and this is of another time.
	Instead bool
}

// Find gives the evidence of an incident, packed: of when it opened or, if newest is
// wanted, of when its cause was last seen; the other one where that is not there. The
// error is *GoneError where there is none.
func Find(ctx context.Context, from Objects, bucket string, inc incident.Incident, newest bool) (Kept, error) {
	if inc.Evidence == nil {
		return Kept{}, &GoneError{"nothing was kept of this incident: evidence is off (the setting evidence)"}
	}
	if bucket == "" {
		return Kept{}, &GoneError{"the deployment keeps no evidence any more (the setting evidence is off); what was kept is in the bucket that the stack left behind, under " + inc.Evidence.Opened}
	}
	keys := []string{inc.Evidence.Opened, inc.Evidence.Newest}
	if newest {
		keys[0], keys[1] = keys[1], keys[0]
	}
	for i, key := range keys {
		data, err := from.Get(ctx, bucket, key, MostPacked)
		switch {
		case err == nil:
			return Kept{Key: key, Data: data, Instead: i > 0 && keys[0] != keys[1]}, nil
		case errors.Is(err, s3.ErrTooLarge):
			return Kept{}, wrong("it is larger than %d MiB", MostPacked>>20)
		case !errors.Is(err, s3.ErrNone):
			return Kept{}, fmt.Errorf("read s3://%s/%s: %w", bucket, key, err)
		}
	}
	return Kept{}, &GoneError{fmt.Sprintf("s3://%s/%s is not there any more, or could not be written then (%s): the setting evidence says for how many days it is kept", bucket, keys[0], when(keys[0]))}
}

// when is the hour of which a key is.
func when(key string) string {
	if parts := strings.Split(key, "/"); len(parts) == 8 {
		if at, err := time.Parse("2006/01/02/15", strings.Join(parts[3:7], "/")); err == nil {
			return "of " + at.Format("2006-01-02 15:04") + " UTC"
		}
	}
	return key
}
