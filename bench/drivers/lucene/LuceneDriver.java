import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.queryParser.QueryParser;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.RAMDirectory;

/** Two threads index into one writer; then two threads search through one searcher. */
public final class LuceneDriver {
    private static final String[] TEXTS = {"the quick brown fox", "jumps over", "the lazy dog"};

    public static void main(String[] args) throws Exception {
        RAMDirectory directory = new RAMDirectory();
        IndexWriter writer =
                new IndexWriter(directory, new StandardAnalyzer(), true, IndexWriter.MaxFieldLength.UNLIMITED);
        inTwoThreads(() -> index(writer));
        writer.optimize();
        writer.close();
        IndexSearcher searcher = new IndexSearcher(directory);
        inTwoThreads(() -> search(searcher));
        searcher.close();
    }

    private static void index(IndexWriter writer) throws Exception {
        for (String text : TEXTS) {
            Document document = new Document();
            document.add(new Field("text", text, Field.Store.YES, Field.Index.ANALYZED));
            writer.addDocument(document);
        }
        writer.commit();
    }

    private static void search(IndexSearcher searcher) throws Exception {
        QueryParser parser = new QueryParser("text", new StandardAnalyzer());
        for (String query : new String[] {"quick", "lazy AND dog", "ju*", "\"brown fox\"", "[a TO m]"}) {
            TopDocs found = searcher.search(parser.parse(query), 10);
            for (int i = 0; i < found.scoreDocs.length; i++) {
                System.out.println(query + ": " + searcher.doc(found.scoreDocs[i].doc).get("text"));
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
