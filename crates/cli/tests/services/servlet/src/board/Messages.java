// One for the whole application; the servlets get it from the servlet context.
package board;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

public class Messages {
    private final Deque<String> posts = new ArrayDeque<>();
    private final List<String> archive = new ArrayList<>();
    private int archived;
    private int restored;

    public void post(String text) {
        synchronized (posts) {
            posts.addLast(text); //~ no container-race: posts
        }
    }

    public List<String> newest() {
        synchronized (posts) {
            return new ArrayList<>(posts); //~ no container-race: posts
        }
    }

    public int count() {
        synchronized (posts) {
            synchronized (archive) {
                return posts.size() + archive.size(); //~ no container-race: archive
            }
        }
    }

    void archiveOld() {
        synchronized (posts) {
            while (posts.size() > 1000) {
                synchronized (archive) { //~ deadlock: posts -> archive with line 49
                    archive.add(posts.removeFirst());
                    archived++; //~ no race: archived
                }
            }
        }
    }

    public void restore(int most) {
        synchronized (archive) {
            for (int i = 0; i < most && !archive.isEmpty(); i++) {
                synchronized (posts) {
                    posts.addFirst(archive.remove(archive.size() - 1));
                    restored++; //~ no unprotected-write: restored
                }
            }
        }
    }

    public int archived() {
        synchronized (archive) {
            return archived;
        }
    }

    public String found(String word) {
        for (String text : archive) { //~ container-race: archive with line 39
            if (text.contains(word)) {
                return text;
            }
        }
        return null;
    }
}
