import java.nio.file.Files;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.ConcurrentMergeScheduler;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;

/** Two threads index into one writer, which merges in threads of its own; then two threads search. */
public final class LuceneDriver {
    private static final String[] TEXTS = {"the quick brown fox", "jumps over", "the lazy dog"};

    public static void main(String[] args) throws Exception {
        Directory directory = FSDirectory.open(Files.createTempDirectory("lucene"));
        IndexWriterConfig config = new IndexWriterConfig(new StandardAnalyzer());
        config.setMergeScheduler(new ConcurrentMergeScheduler());
        IndexWriter writer = new IndexWriter(directory, config);
        inTwoThreads(() -> index(writer));
        writer.forceMerge(1);
        writer.close();
        DirectoryReader reader = DirectoryReader.open(directory);
        IndexSearcher searcher = new IndexSearcher(reader);
        inTwoThreads(() -> search(searcher));
        reader.close();
    }

    private static void index(IndexWriter writer) throws Exception {
        for (String text : TEXTS) {
            Document document = new Document();
            document.add(new TextField("text", text, Field.Store.YES));
            writer.addDocument(document);
        }
        writer.commit();
    }

    private static void search(IndexSearcher searcher) throws Exception {
        for (String word : new String[] {"quick", "dog"}) {
            for (ScoreDoc found : searcher.search(new TermQuery(new Term("text", word)), 10).scoreDocs) {
                System.out.println(word + ": " + searcher.storedFields().document(found.doc).get("text"));
            }
        }
    }

    private interface Work {
        void run() throws Exception;
    }

    private static void inTwoThreads(Work work) throws InterruptedException {
        Runnable task = () -> {
            try {
                work.run();
            } catch (Exception e) {
                e.printStackTrace();
            }
        };
        Thread first = new Thread(task);
        Thread second = new Thread(task);
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
