package fakeslack

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// maxUpload bounds an uploaded file.
const maxUpload = 16 << 20

// upload is a file on its way, and afterwards its bytes.
type upload struct {
	File
	length int
	data   []byte
	shared bool
}

func fileName(name string) string { return url.PathEscape(strings.ToLower(name)) }

func (s *Server) filesGetUploadURLExternal(p params) (answer, error) {
	if err := p.need("filename", "length"); err != nil {
		return nil, err
	}
	length, err := strconv.Atoi(p["length"])
	if err != nil || length < 1 || length > maxUpload {
		return nil, &apiError{code: "invalid_arguments", messages: []string{"[ERROR] invalid `length`"}}
	}
	id := s.store.id("F")
	s.uploads[id] = &upload{File: File{ID: id, Name: p["filename"], Title: p["filename"], AltText: p["alt_txt"]}, length: length}
	return answer{"upload_url": s.url + "/upload/" + id, "file_id": id}, nil
}

// serveUpload takes the bytes, as a multipart form or as they are.
func (s *Server) serveUpload(w http.ResponseWriter, r *http.Request) {
	data, err := readUpload(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.uploads[r.PathValue("id")]
	switch {
	case u == nil:
		http.Error(w, "file not found", http.StatusNotFound)
	case len(data) != u.length:
		http.Error(w, fmt.Sprintf("%d bytes, %d were announced", len(data), u.length), http.StatusBadRequest)
	default:
		u.data, u.Size, u.Mimetype = data, len(data), http.DetectContentType(data)
		fmt.Fprintf(w, "OK - %d", len(data))
	}
}

func readUpload(r *http.Request) ([]byte, error) {
	var from io.Reader = r.Body
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		parts, err := r.MultipartReader()
		if err != nil {
			return nil, fmt.Errorf("read form: %w", err)
		}
		part, err := parts.NextPart()
		for err == nil && part.FileName() == "" {
			part, err = parts.NextPart()
		}
		if err != nil {
			return nil, fmt.Errorf("find file in form: %w", err)
		}
		from = part
	}
	data, err := io.ReadAll(io.LimitReader(from, maxUpload+1))
	if err != nil {
		return nil, fmt.Errorf("read file: %w", err)
	}
	return data, nil
}

func (s *Server) filesCompleteUploadExternal(p params) (answer, error) {
	if err := p.need("files"); err != nil {
		return nil, err
	}
	var wanted []struct{ ID, Title string }
	if json.Unmarshal([]byte(p["files"]), &wanted) != nil || len(wanted) == 0 {
		return nil, &apiError{code: "invalid_arguments", messages: []string{"[ERROR] invalid `files`"}}
	}
	var ups []*upload
	for _, f := range wanted {
		u := s.uploads[f.ID]
		if u == nil || u.data == nil || u.shared {
			return nil, &apiError{code: "file_not_found"}
		}
		ups = append(ups, u)
	}
	channels := strings.FieldsFunc(p["channel_id"]+","+p["channels"], func(r rune) bool { return r == ',' })
	var to []*channel
	for _, id := range channels {
		c, err := s.writable(id)
		if err != nil {
			return nil, err
		}
		if _, err := c.parent(p["thread_ts"]); err != nil {
			return nil, err
		}
		to = append(to, c)
	}
	said, err := s.parseContent(params{"text": p["initial_comment"], "blocks": p["blocks"]})
	if err != nil {
		return nil, err
	}
	var files []File
	list := []answer{}
	for i, u := range ups {
		if u.shared = true; wanted[i].Title != "" {
			u.Title = wanted[i].Title
		}
		files = append(files, u.File)
		list = append(list, s.wireFile(u.File))
	}
	for _, c := range to {
		// The parent was checked above.
		thread, _ := c.parent(p["thread_ts"])
		s.post(c, &Message{
			User: s.cfg.Bot.UserID, Bot: true, ThreadTS: thread, Text: said.text, Blocks: said.blocks, Files: files,
		})
	}
	return answer{"files": list}, nil
}

// servePrivateFile is url_private: it wants the token.
func (s *Server) servePrivateFile(w http.ResponseWriter, r *http.Request) {
	if bearer(r, params{}) != s.cfg.Token {
		http.Error(w, "not_authed", http.StatusForbidden)
		return
	}
	s.sendFile(w, r.PathValue("id"))
}

// servePageFile is the same file for the page, whose viewer is signed in.
func (s *Server) servePageFile(w http.ResponseWriter, r *http.Request) {
	s.sendFile(w, r.PathValue("id"))
}

func (s *Server) sendFile(w http.ResponseWriter, id string) {
	s.mu.Lock()
	u := s.uploads[id]
	s.mu.Unlock()
	if u == nil || !u.shared {
		http.Error(w, "file_not_found", http.StatusNotFound)
		return
	}
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	// Only pictures are shown; a page that somebody uploaded must not run here.
	h.Set("Content-Security-Policy", "sandbox")
	h.Set("Content-Type", u.Mimetype)
	if !strings.HasPrefix(u.Mimetype, "image/") {
		h.Set("Content-Type", "application/octet-stream")
		h.Set("Content-Disposition", "attachment; filename*=UTF-8''"+fileName(u.Name))
	}
	_, _ = w.Write(u.data)
}
